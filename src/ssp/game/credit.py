"""Credit: from rewards to advantages. One function for each way; all see the same, and none sees a token.

A reward is compared with what could be expected: with the others of its group (the attempts at one problem, the
proposals for one seed), with those that were asked for as many hops, with the whole batch, or with a running mean.
Sums are exact (`fsum`), so the order of a batch changes nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import TypeVar

from ssp.config import CreditConfig

K = TypeVar("K", bound=Hashable)
_SMALL = 1e-6  # keeps a division from exploding where all rewards are equal


@dataclass(frozen=True, slots=True)
class Scored:
    """A trajectory with a reward. `group` is the problem that was solved, or the seed that was proposed for."""

    id: str
    group: str
    hops: int
    reward: float


Advantages = dict[str, float]
Baselines = Mapping[str, float]  # running means, by name
Credit = Callable[[Sequence[Scored], CreditConfig, str, Baselines], tuple[Advantages, dict[str, float]]]


def give_credit(
    scored: Sequence[Scored], method: str, config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Advantages by trajectory, and the running means that they leave behind."""
    return METHODS[method](scored, config, role, baselines)


def balanced(scored: Sequence[Scored], advantages: Advantages, most: float) -> Advantages:
    """The advantages, scaled so that every hop count weighs the same in the update; by at most a factor of `most`.

    One-hop problems are solved first and most often. Unbalanced, what they teach washes out the rare successes with
    longer chains.
    """
    totals: dict[int, float] = {}
    for hops in {one.hops for one in scored}:
        total = fsum(abs(advantages[one.id]) for one in scored if one.hops == hops)
        if total > 0.0:
            totals[hops] = total
    if not totals:
        return advantages
    level = max(totals.values())
    factors = {hops: min(most, level / total) for hops, total in totals.items()}
    return {one.id: advantages[one.id] * factors.get(one.hops, 1.0) for one in scored}


def grpo(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Reward minus the mean of the group; divided by the group's deviation if so configured.

    For a proposer the group are the proposals for one seed (hierarchical GRPO).
    """
    return _standardised(scored, lambda one: one.group, divide=config.deviation), {}


def hrpo(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Standardised among those that were asked for as many hops: a hard question is not compared with easy ones."""
    return _standardised(scored, lambda one: one.hops, divide=True), {}


def reinforce(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """The reward itself."""
    return {one.id: one.reward for one in scored}, {}


def reinforce_batch(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Reward minus the mean of the batch."""
    return _standardised(scored, lambda _: 0, divide=False), {}


def reinforce_plus_plus(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Standardised over the batch."""
    return _standardised(scored, lambda _: 0, divide=True), {}


def reinforce_running(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Reward minus a running mean of the role's rewards in earlier steps."""
    return _against_running(scored, lambda _: role, config.memory, baselines)


def rae(
    scored: Sequence[Scored], config: CreditConfig, role: str, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Role-wise advantage estimation: a running mean for each role and kind of game, which here is the hop count."""
    return _against_running(scored, lambda one: f"{role}/{one.hops}", config.memory, baselines)


METHODS: Mapping[str, Credit] = {
    "grpo": grpo,
    "hrpo": hrpo,
    "reinforce": reinforce,
    "reinforce-batch": reinforce_batch,
    "reinforce-running": reinforce_running,
    "reinforce++": reinforce_plus_plus,
    "rae": rae,
}


def _standardised(scored: Sequence[Scored], kind: Callable[[Scored], Hashable], *, divide: bool) -> Advantages:
    """Rewards minus the mean of those of the same kind, and divided by their deviation.

    >>> pair = [Scored("a", "g", 1, 1.0), Scored("b", "g", 1, 0.0)]
    >>> _standardised(pair, lambda one: one.group, divide=False)
    {'a': 0.5, 'b': -0.5}
    """
    advantages: Advantages = {}
    for members in _by(scored, kind).values():
        mean = fsum(one.reward for one in members) / len(members)
        deviation = sqrt(fsum((one.reward - mean) ** 2 for one in members) / len(members)) if divide else 1.0
        equal = divide and deviation < _SMALL
        for one in members:
            advantages[one.id] = 0.0 if equal else (one.reward - mean) / deviation
    return advantages


def _against_running(
    scored: Sequence[Scored], kind: Callable[[Scored], str], memory: float, baselines: Baselines
) -> tuple[Advantages, dict[str, float]]:
    """Compared with the mean before this batch (with the batch's own, the first time); then the mean moves on."""
    advantages: Advantages = {}
    after: dict[str, float] = {}
    for name, members in _by(scored, kind).items():
        mean = fsum(one.reward for one in members) / len(members)
        before = baselines.get(name, mean)
        advantages |= {one.id: one.reward - before for one in members}
        after[name] = memory * before + (1.0 - memory) * mean
    return advantages, after


def _by(scored: Sequence[Scored], kind: Callable[[Scored], K]) -> dict[K, list[Scored]]:
    groups: defaultdict[K, list[Scored]] = defaultdict(list)
    for one in scored:
        groups[kind(one)].append(one)
    return groups
