"""The learner in one process: AdamW on the objective, over samples without padding waste."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from ssp.config import LearnerConfig
from ssp.engines.models import load_model
from ssp.errors import LearnerError
from ssp.learning.adapters import has_adapters, load_adapters, merged, reset_adapters, save_adapters, switched_off
from ssp.learning.batches import together
from ssp.learning.freezing import freeze
from ssp.learning.objective import Rows, chosen, k3, sampled_logits, surrogate
from ssp.learning.tally import Tally
from ssp.protocols import Engine
from ssp.rng import derive
from ssp.types import Role, Sample

OPTIMIZER = "optimizer.safetensors"
_ADAPTERS = "adapters"
_COUNTS = "updates and version"


class TorchLearner:
    """Updates a model from samples, or the adapters in it, if it has any; temperatures are 1 unless told.

    A divergence penalty needs a `reference`, unless there are adapters: without them the model is what it was.
    Weights that learn are float32; with another `dtype` the model computes in that.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        config: LearnerConfig,
        *,
        steps: int,
        temperatures: Mapping[Role, float] | None = None,
        reference: PreTrainedModel | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self._adapted = has_adapters(model)
        if config.kl > 0.0 and reference is None and not self._adapted:
            raise LearnerError("learner.kl needs the starting model to compare with")
        self.model = model
        self.updates = 0
        self.version = 0
        self._config = config
        self._steps = steps
        self._temperatures = temperatures or {}
        self._reference = reference
        self._dtype = dtype
        freeze(model, config.frozen, config.frozen_layers)
        if config.recompute:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        self._optimizer = torch.optim.AdamW(
            [weights for weights in model.parameters() if weights.requires_grad],
            lr=config.learning_rate,
            betas=(0.9, 0.95),
            weight_decay=config.weight_decay,
            fused=True,
        )

    def update(self, samples: Sequence[Sample], step: int) -> dict[str, float]:
        """Learn from a step's samples; gives metrics. Nothing is changed if the gradient is not finite."""
        trained = [one for one in sorted(samples, key=lambda one: one.id) if one.trained_tokens]
        tally = Tally()
        for group in self._groups(trained):
            for epoch in range(self._config.epochs):
                for batch in _split(group, self._config.mini_batches, derive(step, "epoch", epoch)):
                    self._descend(batch, step, tally)
        if trained:
            self.version += 1
        return tally.metrics()

    def _groups(self, samples: list[Sample]) -> list[list[Sample]]:
        if not self._config.separate:
            return [samples] if samples else []
        by_role = [[one for one in samples if one.role is role] for role in (Role.SOLVER, Role.PROPOSER)]
        return [group for group in by_role if group]

    def _descend(self, batch: Sequence[Sample], step: int, tally: Tally) -> None:
        """One step of the optimizer. Gradients add up over micro-batches to those of the whole batch."""
        rate = self._rate(step)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        weights = _weights(batch, self._config.average)
        for rows in self._micro_batches(batch, weights):
            with torch.autocast(self.model.device.type, self._dtype, enabled=self._dtype is not torch.float32):
                loss = self._loss(rows, tally)
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self._config.gradient_clip).item()
        if not math.isfinite(norm):
            self._optimizer.zero_grad()
            raise LearnerError("the gradient is not finite: lower learner.learning_rate (this step was not saved)")
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.model.eval()
        self.updates += 1
        tally.add_update(norm, rate)

    def _loss(self, rows: Rows, tally: Tally) -> Tensor:
        logprobs = sampled_logits(self.model, rows)
        now = chosen(logprobs, rows)
        gain = surrogate(now, rows, self._config)
        entropy = -(logprobs.exp() * logprobs).sum(dim=-1)
        loss = -(gain * rows.weights).sum() - self._config.entropy * (entropy * rows.weights).sum()
        divergence = None
        if self._config.kl > 0.0:
            divergence = k3(now, self._at_start(rows))
            loss = loss + self._config.kl * (divergence * rows.weights).sum()
        tally.add_tokens(rows, loss.detach(), now.detach(), entropy.detach(), divergence, self._config)
        return loss

    @torch.no_grad()
    def _at_start(self, rows: Rows) -> Tensor:
        """Log-probabilities of the sampled tokens under the starting model."""
        if self._reference is not None:
            return chosen(sampled_logits(self._reference, rows), rows)
        with switched_off(self.model):
            return chosen(sampled_logits(self.model, rows), rows)

    def _micro_batches(self, samples: Sequence[Sample], weights: Mapping[str, float]) -> Iterator[Rows]:
        ordered = sorted(samples, key=lambda one: (len(one.token_ids), one.id))
        for batch in together(ordered, self._config.micro_tokens):
            temperatures = [self._temperatures.get(one.role, 1.0) for one in batch]
            yield Rows.of(batch, [weights[one.id] for one in batch], temperatures).to(self.model.device)

    def _rate(self, step: int) -> float:
        """Up over the first updates, then level or down towards the last step."""
        up = min(1.0, (self.updates + 1) / max(1, self._config.warmup_steps))
        done = step / max(1, self._steps)
        down = {"none": 1.0, "linear": 1.0 - done, "cosine": 0.5 * (1.0 + math.cos(math.pi * done))}
        return self._config.learning_rate * up * max(down[self._config.decay], 0.0)

    async def publish(self, engine: Engine) -> None:
        """Let the engine sample with the weights as they are now."""
        await engine.load(self.weights(), self.version)

    def weights(self) -> dict[str, Tensor]:
        """Those of a plain model, also where adapters learn."""
        return merged(self.model) if self._adapted else dict(self.model.state_dict())

    def save(self, folder: Path) -> None:
        """The optimizer's state, and adapters; the plain model is saved beside it, as a Hugging Face directory."""
        if self._adapted:
            save_adapters(self.model, folder / _ADAPTERS)
        names = {id(weights): name for name, weights in self.model.named_parameters()}
        tensors = {
            f"{names[id(weights)]}/{key}": value.contiguous()
            for weights, state in self._optimizer.state.items()
            for key, value in state.items()
        }
        tensors[_COUNTS] = torch.tensor([self.updates, self.version])  # as metadata they would be written in any order
        save_file(tensors, folder / OPTIMIZER)

    def load(self, folder: Path) -> None:
        """Go on where `save` left off, with a model that has the weights of this checkpoint, adapters aside."""
        if self._adapted:
            load_adapters(self.model, folder / _ADAPTERS)
        path = folder / OPTIMIZER
        try:
            tensors = load_file(path)
            self.updates, self.version = tensors.pop(_COUNTS).tolist()
        except (OSError, SafetensorError, KeyError) as error:
            raise LearnerError(f"{path} can't be read: {str(error).splitlines()[0]}") from None
        parameters = dict(self.model.named_parameters())
        for key, value in tensors.items():
            name, _, part = key.rpartition("/")
            if name not in parameters:
                raise LearnerError(f"{path} is of another model: it has {name}")
            self._optimizer.state[parameters[name]][part] = value

    def roll_back(self, checkpoint: Path) -> None:
        """Take weights and optimizer of an earlier checkpoint; versions go on counting."""
        updates, version = self.updates, self.version
        if self._adapted:
            reset_adapters(self.model)
        else:
            self.model.load_state_dict(load_model(checkpoint / "model")[0].state_dict())
        self._optimizer.state.clear()
        if (checkpoint / OPTIMIZER).exists():
            self.load(checkpoint)
        self.updates, self.version = updates, version + 1


def _weights(batch: Sequence[Sample], average: str) -> dict[str, float]:
    """How much each token of a sample counts, so that all add up to one."""
    if average == "sequence":
        return {one.id: 1.0 / (len(batch) * one.trained_tokens) for one in batch}
    return dict.fromkeys((one.id for one in batch), 1.0 / sum(one.trained_tokens for one in batch))


def _split(samples: Sequence[Sample], parts: int, key: int) -> Iterator[list[Sample]]:
    """Mini-batches of about equal size, by chance."""
    order = list(samples)
    if parts > 1:
        random.Random(key).shuffle(order)
    size = -(-len(order) // parts)
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]
