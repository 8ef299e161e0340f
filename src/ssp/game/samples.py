"""From episodes to samples: who learns from what, and with which credit."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ssp.config import Config
from ssp.game.credit import Scored, balanced, give_credit
from ssp.types import Episode, Role, Sample, Trajectory


def learning_roles(config: Config, step: int) -> frozenset[Role]:
    """Whose trajectories are learned from in this step."""
    chosen = {"both": {Role.SOLVER, Role.PROPOSER}, "solver": {Role.SOLVER}, "proposer": {Role.PROPOSER}}
    roles = chosen[config.game.roles]
    return frozenset(roles - {Role.PROPOSER} if step < config.game.solver_first else roles)


def make_samples(
    episodes: Sequence[Episode], config: Config, step: int, baselines: Mapping[str, float]
) -> tuple[list[Sample], dict[str, float]]:
    """What the learner sees, and the running means after this step.

    Trajectories without a reward train nobody, nor do those whose advantage is zero: they would cost time only.
    """
    samples: list[Sample] = []
    after = dict(baselines)
    for role in sorted(learning_roles(config, step)):
        trajectories = {one.id: one for episode in episodes for one in _played(episode, role)}
        method = config.credit.solver if role is Role.SOLVER else config.credit.proposer
        weight = 1.0 if role is Role.SOLVER else config.credit.proposer_weight
        scored = list(_scored(episodes, role, config))
        advantages, means = give_credit(scored, method, config.credit, role.value, baselines)
        if role is Role.SOLVER:
            advantages = balanced(scored, advantages, config.credit.balance)
        after |= means
        samples += [
            _sample(trajectories[one.id], one.group, weight * advantages[one.id])
            for one in scored
            if advantages[one.id] != 0.0
        ]
    return samples, after


def _played(episode: Episode, role: Role) -> Sequence[Trajectory]:
    if role is Role.SOLVER:
        return episode.solutions
    return () if episode.proposal is None else (episode.proposal,)


def _scored(episodes: Sequence[Episode], role: Role, config: Config) -> Iterator[Scored]:
    groups: defaultdict[str, list[Scored]] = defaultdict(list)
    for episode in episodes:
        for one in _played(episode, role):
            reward = episode.rewards.get(one.id)
            if reward is not None:
                group = episode.id if role is Role.SOLVER else episode.seed.id
                groups[group].append(Scored(one.id, group, episode.seed.hops, reward))
    for members in groups.values():
        equal = len({one.reward for one in members}) == 1
        if not (role is Role.SOLVER and equal and config.credit.drop_equal):
            yield from members


def _sample(trajectory: Trajectory, group: str, advantage: float) -> Sample:
    mask = trajectory.mask
    return Sample(
        id=trajectory.id,
        role=trajectory.role,
        group=group,
        policy_version=trajectory.policy_version,
        token_ids=trajectory.token_ids,
        mask=mask,
        logprobs=trajectory.logprobs,
        advantages=tuple(advantage if masked else 0.0 for masked in mask),
    )
