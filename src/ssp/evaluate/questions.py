"""Evaluation questions and how well an agent answers them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ssp.agents.agent import SearchAgent, Task
from ssp.rng import derive
from ssp.text import exact_match
from ssp.types import Role, Trajectory


@dataclass(frozen=True, slots=True)
class Question:
    """A question with all its right answers."""

    id: str
    question: str
    answers: tuple[str, ...]
    hops: int = 1


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and what an agent made of it."""

    question: Question
    trajectory: Trajectory

    @property
    def correct(self) -> bool:
        final = self.trajectory.final
        return final is not None and exact_match(final, self.question.answers)


async def answer_questions(
    agent: SearchAgent, questions: Sequence[Question], *, seed: int = 0, temperature: float = 0.0
) -> list[Answered]:
    """All questions at once; the engine decides how many are computed together."""
    tasks = [
        Task(one.id, Role.SOLVER, {"question": one.question}, derive(seed, "eval", one.id), temperature)
        for one in questions
    ]
    trajectories = await asyncio.gather(*(agent.run(task) for task in tasks))
    return [Answered(*pair) for pair in zip(questions, trajectories, strict=True)]
