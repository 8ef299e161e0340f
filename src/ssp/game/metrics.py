"""What a step tells about itself: the funnel, rewards, searches and endings, also by the hops that were asked for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from ssp.types import Episode, Outcome, Trajectory
from ssp.worlds.oracle import Oracle, Truth

Metrics = dict[str, float]


def funnel(episodes: Sequence[Episode]) -> dict[str, int]:
    """How many proposals got how far: all, those that passed each gate, and the valid and the undecided."""
    fresh = [episode for episode in episodes if not episode.pooled]
    counts: Counter[str] = Counter(proposed=len(fresh))
    for episode in fresh:
        for check in episode.verdict.checks if episode.verdict else ():
            counts[check.gate] += check.outcome is Outcome.PASSED
        counts["valid"] += episode.valid
        counts["undecided"] += not episode.decided
    return dict(counts)


def step_metrics(episodes: Sequence[Episode]) -> Metrics:
    fresh = [episode for episode in episodes if not episode.pooled]
    valid = [episode for episode in fresh if episode.valid]
    played = [episode for episode in episodes if episode.attempts]
    solutions = [one for episode in episodes for one in episode.solutions]
    proposals = [episode.proposal for episode in fresh if episode.proposal is not None]
    metrics: Metrics = {f"funnel/{gate}": float(count) for gate, count in funnel(episodes).items()}
    metrics |= {
        "valid": _mean(episode.valid for episode in fresh),
        "undecided": _mean(not episode.decided for episode in fresh),
        "pooled": float(len(episodes) - len(fresh)),
        "solver/reward": _mean(_known(reward for episode in played for reward in _attempt_rewards(episode))),
        "solver/reward_fresh": _mean(_known(reward for episode in valid for reward in _attempt_rewards(episode))),
        "solver/reward_pooled": _mean(
            _known(reward for episode in played if episode.pooled for reward in _attempt_rewards(episode))
        ),
        "solver/unjudged": _mean(one.correct is None for episode in played for one in episode.attempts),
        "solver/searches": _mean(len(one.searches) for one in solutions),
        "solver/tokens": _mean(sum(one.mask) for one in solutions),
        "solver/mixed": _mean(len(set(_attempt_rewards(episode))) > 1 for episode in played),
        "proposer/reward": _mean(
            _known(episode.rewards.get(episode.proposal.id) for episode in fresh if episode.proposal is not None)
        ),
        "proposer/searches": _mean(len(one.searches) for one in proposals),
        "proposer/hops_valid": _mean(episode.seed.hops for episode in valid),
        "proposer/different": _different(valid),
    }
    metrics |= _by_hops(fresh)
    metrics |= {f"endings/{name}": count for name, count in _endings([*proposals, *solutions]).items()}
    return {name: value for name, value in metrics.items() if value == value}


def truth_metrics(episodes: Sequence[Episode], oracle: Oracle) -> Metrics:
    """What share of the questions that passed verification is true, by the oracle. Nobody learns from it."""
    judged: defaultdict[str, list[bool]] = defaultdict(list)
    for episode in episodes:
        if episode.valid and not episode.pooled and episode.problem is not None:
            true = oracle.judge(episode.problem.question, episode.problem.answer) is Truth.TRUE
            judged["true"].append(true)
            judged[f"hops/{episode.seed.hops}/true"].append(true)
    return {name: _mean(values) for name, values in sorted(judged.items())}


def play_seconds(episodes: Sequence[Episode], seconds: float) -> Metrics:
    """How long playing took, told apart by what was done.

    All games run at once, so the time is shared out by how long agents were at it: a row of the engine for so long.
    """
    spent = {"propose": 0.0, "verify": 0.0, "solve": 0.0}
    for episode in episodes:
        spent["propose"] += episode.proposal.seconds if episode.proposal else 0.0
        spent["verify"] += episode.seconds.get("verify", 0.0)
        spent["solve"] += sum(one.seconds for one in episode.solutions)
    total = sum(spent.values())
    return {f"seconds/{name}": seconds * part / total for name, part in spent.items()} if total else {}


def _by_hops(fresh: Sequence[Episode]) -> Metrics:
    groups: defaultdict[int, list[Episode]] = defaultdict(list)
    for episode in fresh:
        groups[episode.seed.hops].append(episode)
    metrics: Metrics = {}
    for hops, members in sorted(groups.items()):
        valid = [episode for episode in members if episode.valid]
        metrics[f"hops/{hops}/proposed"] = float(len(members))
        metrics[f"hops/{hops}/valid"] = _mean(episode.valid for episode in members)
        metrics[f"hops/{hops}/solved"] = _mean(_known(one for episode in valid for one in _attempt_rewards(episode)))
        metrics[f"hops/{hops}/searches"] = _mean(len(one.searches) for episode in valid for one in episode.solutions)
    return metrics


def _attempt_rewards(episode: Episode) -> list[float | None]:
    return [episode.rewards.get(one.trajectory_id) for one in episode.attempts]


def _different(valid: Sequence[Episode]) -> float:
    questions = [episode.problem.question for episode in valid if episode.problem is not None]
    return len(set(questions)) / len(questions) if questions else float("nan")


def _endings(trajectories: Sequence[Trajectory]) -> Metrics:
    counts = Counter(one.status.value for one in trajectories)
    return {name: count / len(trajectories) for name, count in sorted(counts.items())}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Iterable[float]) -> float:
    """nan where there is nothing, which `step_metrics` leaves out: nothing is not zero."""
    known = list(values)
    return fmean(known) if known else float("nan")
