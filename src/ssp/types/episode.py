"""One seed's whole game: the unit of record, replay and viewing."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ssp.types.check import require
from ssp.types.problem import Outcome, Problem, Verdict
from ssp.types.seed import Seed
from ssp.types.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Attempt:
    """A solver's answer to a problem. `correct` is None while unjudged; None is not False.

    >>> Attempt(problem_id="p1", trajectory_id="t9", answer="Oakmere", correct=True).correct
    True
    """

    problem_id: str
    trajectory_id: str
    answer: str | None
    correct: bool | None

    def __post_init__(self) -> None:
        require(self.problem_id != "" and self.trajectory_id != "", "an Attempt links by ids")
        require(self.answer is not None or self.correct is not True, "no answer can't be correct")


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error, recorded once at the boundary it crossed.

    >>> ErrorRecord("search", "http://127.0.0.1:8000/retrieve did not answer").boundary
    'search'
    """

    boundary: str
    message: str


@dataclass(frozen=True, slots=True)
class Episode:
    """Seed, proposal, problem, verdict, attempts, rewards and errors of one game.

    Rewards are by trajectory id; None means that the trajectory trains nobody. An episode whose problem came
    from the pool (`pooled`) has no proposal of its own and trains the solver only.

    >>> seed = Seed(id="s1", answer="Oakmere")
    >>> Episode(id="e1", step=4, seed=seed, errors=(ErrorRecord("engine", "out of memory"),)).decided
    False
    """

    id: str
    step: int
    seed: Seed
    proposal: Trajectory | None = None
    problem: Problem | None = None
    verdict: Verdict | None = None
    attempts: tuple[Attempt, ...] = ()
    solutions: tuple[Trajectory, ...] = ()
    rewards: Mapping[str, float | None] = field(default_factory=dict)
    errors: tuple[ErrorRecord, ...] = ()
    pooled: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.id != "" and self.step >= 0, "an Episode needs an id and a step")
        require(all(0.0 <= value < math.inf for value in self.seconds.values()), f"episode {self.id}: seconds")
        self._check_links()
        self._check_rewards()

    def _check_links(self) -> None:
        if self.problem is not None:
            require(self.problem.seed_id == self.seed.id, f"episode {self.id}: problem of another seed")
            if self.proposal is not None:
                require(
                    self.problem.proposal_id == self.proposal.id,
                    f"episode {self.id}: problem of another proposal",
                )
        require(not (self.pooled and self.proposal), f"episode {self.id}: a pooled problem has no proposal")
        solution_ids = {solution.id for solution in self.solutions}
        require(len(solution_ids) == len(self.solutions), f"episode {self.id}: a solution appears twice")
        for attempt in self.attempts:
            require(
                self.problem is not None and attempt.problem_id == self.problem.id,
                f"episode {self.id}: attempt at another problem",
            )
            require(attempt.trajectory_id in solution_ids, f"episode {self.id}: attempt without its trajectory")

    def _check_rewards(self) -> None:
        known = {solution.id for solution in self.solutions}
        if self.proposal is not None:
            known.add(self.proposal.id)
        for trajectory_id, reward in self.rewards.items():
            require(trajectory_id in known, f"episode {self.id}: reward for unknown trajectory {trajectory_id}")
            require(reward is None or math.isfinite(reward), f"episode {self.id}: reward {reward}")
        for attempt in self.attempts:
            if attempt.correct is None:
                unjudged = self.rewards.get(attempt.trajectory_id) is None
                require(unjudged, f"episode {self.id}: an unjudged attempt has a reward")
        if self.proposal is not None and not self.decided:
            undecided = self.rewards.get(self.proposal.id) is None
            require(undecided, f"episode {self.id}: an undecided proposal has a reward")

    @property
    def decided(self) -> bool:
        """Verification came to a decision, for or against."""
        return self.verdict is not None and self.verdict.outcome is not Outcome.UNDECIDED

    @property
    def unjudged(self) -> bool:
        """Something could not be decided: the question, or an attempt at it."""
        return not self.decided or any(attempt.correct is None for attempt in self.attempts)

    @property
    def valid(self) -> bool:
        return self.verdict is not None and self.verdict.outcome is Outcome.PASSED
