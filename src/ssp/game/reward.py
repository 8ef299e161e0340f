"""What the players get. Pure functions; None where nothing was decided."""

from collections.abc import Sequence

from ssp.types import Outcome, Verdict


def solver_reward(correct: bool | None) -> float | None:
    """1 for a right answer, 0 for a wrong one, None while unjudged.

    >>> solver_reward(True), solver_reward(False), solver_reward(None)
    (1.0, 0.0, None)
    """
    return None if correct is None else float(correct)


def proposer_reward(verdict: Verdict, rewards: Sequence[float | None]) -> float | None:
    """1 minus the solvers' mean success; 0, never less, for an invalid question; None if nothing was decided.

    >>> proposer_reward(Verdict(Outcome.PASSED, ""), [1.0, 0.0, 0.0, None])
    0.6666666666666667
    >>> proposer_reward(Verdict(Outcome.REJECTED, "leak"), [])
    0.0
    """
    if verdict.outcome is Outcome.UNDECIDED:
        return None
    if verdict.outcome is Outcome.REJECTED:
        return 0.0
    known = [reward for reward in rewards if reward is not None]
    return 1.0 - sum(known) / len(known) if known else None
