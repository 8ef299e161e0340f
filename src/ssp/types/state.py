"""Everything a resume needs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ssp.types.check import require
from ssp.types.problem import Problem


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """An earlier valid problem that may fill a batch.

    >>> problem = Problem(id="p1", seed_id="s1", question="Q?", answer="A", proposal_id="t1", hops=1)
    >>> PoolEntry(problem, added_step=7, attempts=10, solved=4).solve_rate
    0.4
    >>> PoolEntry(problem, added_step=7).solve_rate is None
    True
    """

    problem: Problem
    added_step: int
    attempts: int = 0
    solved: int = 0
    last_step: int = 0

    def __post_init__(self) -> None:
        require(self.added_step >= 0, "steps count from 0")
        require(0 <= self.solved <= self.attempts, f"{self.solved} of {self.attempts} attempts solved")

    @property
    def solve_rate(self) -> float | None:
        return self.solved / self.attempts if self.attempts else None


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run between two steps; with the weights and the optimizer it is all that a resume needs.

    >>> RunState(seed=0).step
    0
    """

    seed: int
    step: int = 0
    cursor: int = 0
    policy_version: int = 0
    pool: tuple[PoolEntry, ...] = ()
    baselines: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(min(self.step, self.cursor, self.policy_version) >= 0, "counters must not be negative")
        require(all(math.isfinite(value) for value in self.baselines.values()), "baselines must be finite")
        ids = [entry.problem.id for entry in self.pool]
        require(len(ids) == len(set(ids)), "the pool holds a problem twice")
