"""What the players get. Pure functions; None where nothing was decided."""

from collections.abc import Callable, Mapping, Sequence
from math import exp

from ssp.config import RewardConfig
from ssp.types import Outcome, Verdict

Shape = Callable[[int, int, RewardConfig], float]  # right answers, attempts → what the proposer gets


def solver_reward(correct: bool | None) -> float | None:
    """1 for a right answer, 0 for a wrong one, None while unjudged.

    >>> solver_reward(True), solver_reward(False), solver_reward(None)
    (1.0, 0.0, None)
    """
    return None if correct is None else float(correct)


def proposer_reward(
    verdict: Verdict, rewards: Sequence[float | None], config: RewardConfig | None = None
) -> float | None:
    """By the solvers' success at a valid question, and for being valid; 0 for an invalid one; None if undecided.

    >>> proposer_reward(Verdict(Outcome.PASSED, ""), [1.0, 0.0, 0.0, None])
    0.6666666666666667
    >>> proposer_reward(Verdict(Outcome.REJECTED, "leak"), [])
    0.0
    """
    config = config or RewardConfig()
    if verdict.outcome is Outcome.UNDECIDED:
        return None
    if verdict.outcome is Outcome.REJECTED:
        return config.invalid
    known = [reward for reward in rewards if reward is not None]
    right = sum(reward > 0.0 for reward in known)
    return config.valid + SHAPES[config.shape](right, len(known), config) if known else None


def _one_minus_acc(right: int, attempts: int, config: RewardConfig) -> float:
    """The harder the better; the method's own."""
    return 1.0 - right / attempts


def _learnability(right: int, attempts: int, config: RewardConfig) -> float:
    """4p(1−p): best where half of the attempts succeed."""
    p = right / attempts
    return 4.0 * p * (1.0 - p)


def _band(right: int, attempts: int, config: RewardConfig) -> float:
    """1 for a success rate within bounds, else 0."""
    return float(config.band_low <= right / attempts <= config.band_high)


def _variance(right: int, attempts: int, config: RewardConfig) -> float:
    """A bell over the variance of success, 1 at its highest value of ¼ (as in SPICE)."""
    p = right / attempts
    return exp(-((p * (1.0 - p) - 0.25) ** 2) / (2 * 0.01))


def _dr_zero(right: int, attempts: int, config: RewardConfig) -> float:
    """(n−k)/(n−1) if some but not all succeed, plus a share for a well-formed question (as in Dr. Zero)."""
    difficulty = (attempts - right) / (attempts - 1) if 0 < right < attempts else 0.0
    return config.format_share + difficulty


SHAPES: Mapping[str, Shape] = {
    "one_minus_acc": _one_minus_acc,
    "learnability": _learnability,
    "band": _band,
    "variance": _variance,
    "dr_zero": _dr_zero,
}
