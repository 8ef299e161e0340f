"""Parts of a model that don't learn."""

from collections.abc import Sequence

from transformers import PreTrainedModel

from ssp.errors import LearnerError


def freeze(model: PreTrainedModel, parts: Sequence[str], layers: int = 0) -> None:
    """Weights with one of these in their name learn nothing, nor do the lowest layers and what is below them.

    What lies below the lowest layer that learns costs no gradient: the lower half frozen saves a third of an update.
    """
    names = [name for name, _ in model.named_parameters()]
    for part in parts:
        if not any(part in name for name in names):
            raise LearnerError(f"learner.frozen: the model has no part {part!r}; there is, for example, {names[0]!r}")
    total = model.config.get_text_config().num_hidden_layers
    if layers >= total:
        raise LearnerError(f"learner.frozen_layers={layers}: the model has {total} layers, and one has to learn")
    fixed = [*parts, *(f".{number}." for number in range(layers))]
    below = {id(weights) for weights in model.get_input_embeddings().parameters()} if layers else set()
    for name, weights in model.named_parameters():
        learns = id(weights) not in below and not any(part in name for part in fixed)
        weights.requires_grad_(weights.requires_grad and learns)
    if not any(weights.requires_grad for weights in model.parameters()):
        raise LearnerError("learner.frozen leaves nothing of the model that could learn")
