"""The objective of one update: a clipped policy gradient on sampled tokens, and what may be added to it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor
from transformers import PreTrainedModel

from ssp.config import LearnerConfig
from ssp.types import Sample


@dataclass(frozen=True, slots=True)
class Rows:
    """Samples side by side: token ids [rows, longest], and for all sampled tokens, in order, what is known of them."""

    ids: Tensor
    sampled: Tensor  # [rows, longest - 1]: the next token was sampled
    logprobs: Tensor  # [sampled tokens], as recorded when they were sampled
    advantages: Tensor
    weights: Tensor  # how much each token counts
    temperatures: Tensor  # at which each token was sampled

    @classmethod
    def of(cls, samples: Sequence[Sample], weights: Sequence[float], temperatures: Sequence[float]) -> "Rows":
        """Padding stands at the end, where causal models ignore it. Weights and temperatures go with the samples."""
        longest = max(len(one.token_ids) for one in samples)
        ids = torch.zeros(len(samples), longest, dtype=torch.long)
        sampled = torch.zeros(len(samples), longest, dtype=torch.bool)
        for row, one in enumerate(samples):
            ids[row, : len(one.token_ids)] = torch.tensor(one.token_ids)
            sampled[row, : len(one.mask)] = torch.tensor(one.mask)
        kept = [[n for n, masked in enumerate(one.mask) if masked] for one in samples]
        return cls(
            ids,
            sampled[:, 1:],
            torch.tensor([one.logprobs[n] for one, places in zip(samples, kept, strict=True) for n in places]),
            torch.tensor([one.advantages[n] for one, places in zip(samples, kept, strict=True) for n in places]),
            torch.tensor([weight for weight, places in zip(weights, kept, strict=True) for _ in places]),
            torch.tensor([one for one, places in zip(temperatures, kept, strict=True) for _ in places]),
        )

    def to(self, device: torch.device) -> "Rows":
        """The same on another device."""
        return replace(self, **{one.name: getattr(self, one.name).to(device) for one in fields(self)})


def sampled_logits(model: PreTrainedModel, rows: Rows) -> Tensor:
    """Log-probabilities over the vocabulary, computed only where a token was sampled."""
    hidden = model.base_model(input_ids=rows.ids, use_cache=False).last_hidden_state[:, :-1]
    logits = model.get_output_embeddings()(hidden[rows.sampled]).float()
    return torch.log_softmax(logits / rows.temperatures[:, None], dim=-1)


def chosen(logprobs: Tensor, rows: Rows) -> Tensor:
    """Log-probabilities of the tokens that were sampled."""
    return logprobs.gather(1, rows.ids[:, 1:][rows.sampled][:, None])[:, 0]


def surrogate(now: Tensor, rows: Rows, config: LearnerConfig) -> Tensor:
    """Per token: the clipped policy gradient, to be made large."""
    ratio = (now - rows.logprobs).exp()
    clipped = ratio.clamp(1.0 - config.clip_low, 1.0 + config.clip_high)
    return torch.minimum(ratio * rows.advantages, clipped * rows.advantages)


def k3(now: Tensor, reference: Tensor) -> Tensor:
    """Per token: an estimate of the divergence from the reference that is never negative and has little spread."""
    difference = reference - now
    return difference.exp() - difference - 1.0
