"""The learner in one process: AdamW on the objective, over samples without padding waste."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from ssp.config import LearnerConfig
from ssp.engines.models import load_model
from ssp.errors import LearnerError
from ssp.learning.batches import together
from ssp.learning.objective import Rows, chosen, k3, sampled_logits, surrogate
from ssp.protocols import Engine
from ssp.rng import derive
from ssp.types import Role, Sample

_COUNTS = "updates and version"


class TorchLearner:
    """Updates a model from samples. A divergence penalty needs a `reference`; temperatures are 1 unless told."""

    def __init__(
        self,
        model: PreTrainedModel,
        config: LearnerConfig,
        *,
        steps: int,
        temperatures: Mapping[Role, float] | None = None,
        reference: PreTrainedModel | None = None,
    ) -> None:
        if config.kl > 0.0 and reference is None:
            raise LearnerError("learner.kl needs the starting model to compare with")
        self.model = model
        self.updates = 0
        self.version = 0
        self._config = config
        self._steps = steps
        self._temperatures = temperatures or {}
        self._reference = reference
        _freeze(model, config.frozen)
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
        tally = _Tally()
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

    def _descend(self, batch: Sequence[Sample], step: int, tally: "_Tally") -> None:
        """One step of the optimizer. Gradients add up over micro-batches to those of the whole batch."""
        rate = self._rate(step)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        weights = _weights(batch, self._config.average)
        for rows in self._micro_batches(batch, weights):
            self._loss(rows, tally).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self._config.gradient_clip).item()
        if not math.isfinite(norm):
            self._optimizer.zero_grad()
            raise LearnerError("the gradient is not finite: lower learner.learning_rate (this step was not saved)")
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.model.eval()
        self.updates += 1
        tally.add_update(norm, rate)

    def _loss(self, rows: Rows, tally: "_Tally") -> Tensor:
        logprobs = sampled_logits(self.model, rows)
        now = chosen(logprobs, rows)
        gain = surrogate(now, rows, self._config)
        entropy = -(logprobs.exp() * logprobs).sum(dim=-1)
        loss = -(gain * rows.weights).sum() - self._config.entropy * (entropy * rows.weights).sum()
        divergence = None
        if self._reference is not None and self._config.kl > 0.0:
            with torch.no_grad():
                there = chosen(sampled_logits(self._reference, rows), rows)
            divergence = k3(now, there)
            loss = loss + self._config.kl * (divergence * rows.weights).sum()
        tally.add_tokens(rows, loss.detach(), now.detach(), entropy.detach(), divergence, self._config)
        return loss

    def _micro_batches(self, samples: Sequence[Sample], weights: Mapping[str, float]) -> Iterator[Rows]:
        ordered = sorted(samples, key=lambda one: (len(one.token_ids), one.id))
        for batch in together(ordered, self._config.micro_tokens):
            temperatures = [self._temperatures.get(one.role, 1.0) for one in batch]
            yield Rows.of(batch, [weights[one.id] for one in batch], temperatures)

    def _rate(self, step: int) -> float:
        """Up over the first updates, then level or down towards the last step."""
        up = min(1.0, (self.updates + 1) / max(1, self._config.warmup_steps))
        done = step / max(1, self._steps)
        down = {"none": 1.0, "linear": 1.0 - done, "cosine": 0.5 * (1.0 + math.cos(math.pi * done))}
        return self._config.learning_rate * up * max(down[self._config.decay], 0.0)

    async def publish(self, engine: Engine) -> None:
        """Let the engine sample with the weights as they are now."""
        await engine.load(self.weights(), self.version)

    def weights(self) -> Mapping[str, Tensor]:
        return self.model.state_dict()

    def save(self, folder: Path) -> None:
        """The optimizer's state; the model is saved beside it, as a Hugging Face directory."""
        names = {id(weights): name for name, weights in self.model.named_parameters()}
        tensors = {
            f"{names[id(weights)]}/{key}": value.contiguous()
            for weights, state in self._optimizer.state.items()
            for key, value in state.items()
        }
        tensors[_COUNTS] = torch.tensor([self.updates, self.version])  # as metadata they would be written in any order
        save_file(tensors, folder / "optimizer.safetensors")

    def load(self, folder: Path) -> None:
        """Go on where `save` left off."""
        path = folder / "optimizer.safetensors"
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
        self.model.load_state_dict(load_model(checkpoint / "model")[0].state_dict())
        self._optimizer.state.clear()
        if (checkpoint / "optimizer.safetensors").exists():
            self.load(checkpoint)
        self.updates, self.version = updates, version + 1


def _freeze(model: PreTrainedModel, parts: Sequence[str]) -> None:
    """Weights with one of these in their name learn nothing."""
    names = [name for name, _ in model.named_parameters()]
    for part in parts:
        if not any(part in name for name in names):
            raise LearnerError(f"learner.frozen: the model has no part {part!r}; there is, for example, {names[0]!r}")
    for name, weights in model.named_parameters():
        weights.requires_grad_(not any(part in name for part in parts))
    if not any(weights.requires_grad for weights in model.parameters()):
        raise LearnerError("learner.frozen leaves nothing of the model that could learn")


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


@dataclass(slots=True)
class _Tally:
    """Sums for metrics. Mismatch is that of the first update, before which sampler and learner have equal weights."""

    loss: float = 0.0
    tokens: int = 0
    entropy: float = 0.0
    divergence: float = 0.0
    clipped: int = 0
    mismatch: float = 0.0
    first_tokens: int = 0
    norms: list[float] = field(default_factory=list)
    rate: float = 0.0

    def add_tokens(
        self,
        rows: Rows,
        loss: Tensor,
        now: Tensor,
        entropy: Tensor,
        divergence: Tensor | None,
        config: LearnerConfig,
    ) -> None:
        self.loss += loss.item()
        self.tokens += len(now)
        self.entropy += entropy.sum().item()
        ratio = (now - rows.logprobs).exp()
        up = (ratio > 1.0 + config.clip_high) & (rows.advantages > 0)
        down = (ratio < 1.0 - config.clip_low) & (rows.advantages < 0)
        self.clipped += int((up | down).sum().item())
        if divergence is not None:
            self.divergence += divergence.detach().sum().item()
        if not self.norms:
            self.mismatch += (now - rows.logprobs).abs().sum().item()
            self.first_tokens += len(now)

    def add_update(self, norm: float, rate: float) -> None:
        self.norms.append(norm)
        self.rate = rate

    def metrics(self) -> dict[str, float]:
        if not self.tokens:
            return {"updates": 0.0, "tokens": 0.0}
        return {
            "updates": float(len(self.norms)),
            "tokens": float(self.tokens),
            "loss": self.loss / len(self.norms),
            "entropy": self.entropy / self.tokens,
            "kl": self.divergence / self.tokens,
            "clipped": self.clipped / self.tokens,
            "mismatch": self.mismatch / self.first_tokens,
            "gradient": sum(self.norms) / len(self.norms),
            "learning_rate": self.rate,
        }
