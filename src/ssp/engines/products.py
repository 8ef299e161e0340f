"""Matrix products in half precision, everything around them as it is.

Nearly all the work of a model is in its linear layers. Where a processor multiplies bfloat16 twice as fast, these take
bfloat16 weights and inputs; what is added up between them, attention, its cache and the logits stay in float32.
"""

import torch
from torch import Tensor
from torch.nn.functional import linear
from transformers import PreTrainedModel


class _HalfLinear(torch.nn.Linear):
    """A linear layer whose numbers come and go in another precision than it multiplies with."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input.to(self.weight.dtype), self.weight, self.bias).to(input.dtype)


def halve_products(model: PreTrainedModel, dtype: torch.dtype) -> None:
    """Let linear layers, but for the last, multiply with this dtype. New weights can be loaded as before."""
    last = model.get_output_embeddings()
    for module in model.modules():
        if type(module) is torch.nn.Linear and module is not last:
            module.__class__ = _HalfLinear
            module.to(dtype)
