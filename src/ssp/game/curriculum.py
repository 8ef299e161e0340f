"""What is asked for: longer questions, the better those with one hop less are solved.

The two shortest are asked for from the start. With one hop alone in the first steps, solvers learn to search once,
whatever is asked, and two hops come too late (docs/log.md).

How often attempts succeed is remembered by hop count, among the running means of a run's state.
"""

from collections.abc import Mapping, Sequence
from math import fsum

from ssp.types import Episode

_MEMORY = 0.5


def solved(episodes: Sequence[Episode], before: Mapping[str, float]) -> dict[str, float]:
    """How often attempts at new questions succeed, by hop count, as a running mean."""
    rewards: dict[int, list[float]] = {}
    for episode in episodes:
        if not episode.pooled:
            known = [one.correct for one in episode.attempts if one.correct is not None]
            rewards.setdefault(episode.seed.hops, []).extend(map(float, known))
    after = dict(before)
    for hops, some in rewards.items():
        if some:
            now = fsum(some) / len(some)
            after[_name(hops)] = _MEMORY * before.get(_name(hops), now) + (1.0 - _MEMORY) * now
    return after


def shares_now(full: Mapping[int, float], means: Mapping[str, float], bar: float) -> dict[int, float]:
    """By how much each hop count is to be drawn, given the shares once all is asked for.

    Those that are not asked for from the start are drawn in proportion to the success with one hop less, up to the bar.

    >>> shares_now({1: 0.4, 2: 0.4, 3: 0.2}, {"solved/2": 0.25}, bar=0.5)
    {1: 0.4, 2: 0.4, 3: 0.1}
    """
    if bar == 0.0:
        return dict(full)
    asked = sorted(full)
    before = dict(zip(asked[2:], asked[1:], strict=False))
    return {
        hops: share * min(1.0, means.get(_name(before[hops]), 0.0) / bar) if hops in before else share
        for hops, share in full.items()
    }


def _name(hops: int) -> str:
    return f"solved/{hops}"
