"""Supervised training on demonstrations: next-token prediction where the agent would have sampled.

Some of the rest of the text is learned too (`language`): predicting documents is practice in copying from them. Rows
of similar length are computed together, and the learning rate falls to nothing at the end.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from transformers import PreTrainedModel

from ssp.errors import LearnerError
from ssp.learning.batches import Row, bucketed, padded
from ssp.rng import derive
from ssp.warmup.lessons import Lesson
from ssp.warmup.looking import Gaze, Look, Marks, looks

Progress = Callable[[str, int], None]


class Source(Protocol):
    """Whoever makes lessons."""

    def lessons(self, seed: int) -> Iterator[Lesson]: ...


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how hard is taught. `stages` are the shares of steps at which they end, one for each teacher."""

    steps: int
    stages: tuple[float, ...]
    batch_tokens: int = 1300
    learning_rate: float = 1.5e-3
    language: float = 0.3  # share of the other tokens that are learned too
    warmup_steps: int = 20
    decay_from: float = 0.5
    clip: float = 1.0
    looking: float = 0.2  # weight of looking where it should; later a fifth of it
    looking_until: float = 0.4
    gentle: tuple[str, ...] = ()  # parts of the model, by parts of their names, that learn at a third of the rate
    dtype: torch.dtype = torch.float32  # that is computed with; weights are float32


def teach(
    model: PreTrainedModel,
    teachers: Sequence[Source],
    schedule: Schedule,
    marks: Marks | None,
    seed: int,
    progress: Progress,
) -> list[float]:
    """Train the model; gives the loss of every step. Teachers go with the schedule's stages.

    With `marks` it is also told where to look, which takes the heads of the generated model.
    """
    gaze = Gaze(model) if marks else None
    optimizer = torch.optim.AdamW(_groups(model, schedule), betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    rates = [group["lr"] for group in optimizer.param_groups]
    model.train()
    losses = []
    for step, rows in enumerate(_batches(teachers, schedule, marks, seed)):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * _pace(step, schedule)
        ids, weights = padded(rows)
        with torch.autocast(model.device.type, schedule.dtype, enabled=schedule.dtype is not torch.float32):
            loss = weighted_loss(model, ids.to(model.device), weights.to(model.device))
        looking = schedule.looking * (1.0 if step < schedule.looking_until * schedule.steps else 0.2)
        (loss + looking * gaze.loss([row.looks for row in rows]) if gaze else loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        progress("warm-up steps", 1)
    model.eval()
    if gaze:
        gaze.close()
    if not all(map(_is_finite, losses)):
        raise LearnerError("the warm-up diverged: lower the learning rate")
    return losses


def _groups(model: PreTrainedModel, schedule: Schedule) -> list[dict[str, Any]]:
    gentle: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, weights in model.named_parameters():
        if weights.requires_grad:
            (gentle if any(part in name for part in schedule.gentle) else others).append(weights)
    groups = [{"params": others, "lr": schedule.learning_rate}, {"params": gentle, "lr": schedule.learning_rate / 3}]
    return [group for group in groups if group["params"]]


def weighted_loss(model: PreTrainedModel, ids: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Mean negative log-likelihood over the weights. Logits are computed only where the weight is not zero."""
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    counts = weights[:, 1:] > 0
    logits = model.get_output_embeddings()(hidden[counts])
    losses = torch.nn.functional.cross_entropy(logits.float(), ids[:, 1:][counts], reduction="none")
    chosen = weights[:, 1:][counts]
    return (losses * chosen).sum() / chosen.sum()


@dataclass(frozen=True, slots=True)
class _Taught(Row):
    looks: tuple[Look, ...] = ()


def _batches(teachers: Sequence[Source], schedule: Schedule, marks: Marks | None, seed: int) -> Iterator[list[_Taught]]:
    done = 0
    for stage, (teacher, end) in enumerate(zip(teachers, schedule.stages, strict=True)):
        order = random.Random(derive(seed, "order", stage))
        rows = (
            _row(lesson, schedule.language, marks, order) for lesson in teacher.lessons(derive(seed, "stage", stage))
        )
        for batch in bucketed(rows, schedule.batch_tokens, window=32, rng=order):
            if done >= round(end * schedule.steps):
                break
            yield batch
            done += 1


def _row(lesson: Lesson, language: float, marks: Marks | None, rng: random.Random) -> _Taught:
    weights = tuple(float(taught or rng.random() < language) for taught in lesson.mask)
    return _Taught(lesson.token_ids, weights, looks(lesson.token_ids, lesson.mask, marks) if marks else ())


def _pace(step: int, schedule: Schedule) -> float:
    """Share of the learning rate: up quickly, level, then down to nothing."""
    up = min(1.0, (step + 1) / schedule.warmup_steps)
    down = min(1.0, (1.0 - step / schedule.steps) / (1.0 - schedule.decay_from))
    return up * down


def _is_finite(value: float) -> bool:
    return value == value and abs(value) != float("inf")
