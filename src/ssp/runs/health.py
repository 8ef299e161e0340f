"""Alarms: what a sick run looks like, by name, with a hint of what to do. Pure functions of the metrics so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ssp.config import HealthConfig

History = Sequence[Mapping[str, float]]  # metrics of the steps so far, oldest first


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something is wrong. `action` is what the configuration says to do about it."""

    name: str
    message: str
    hint: str
    action: str

    def __str__(self) -> str:
        return f"{self.name.replace('_', ' ')}: {self.message}; {self.hint}"


@dataclass(frozen=True, slots=True)
class _Rule:
    """`sick` says in a few words what is wrong with the last steps, given all before; or nothing."""

    name: str
    sick: Callable[[History, History], str]
    hint: str


def check(history: History, config: HealthConfig) -> list[Alarm]:
    """Alarms after the newest step, judged by the mean of the last few steps."""
    if len(history) < config.window:
        return []
    recent, before = history[-config.window :], history[: -config.window]
    alarms = []
    for rule in RULES:
        action = getattr(config, rule.name)
        message = rule.sick(recent, before) if action != "ignore" else ""
        if message:
            alarms.append(Alarm(rule.name, message, rule.hint, action))
    return alarms


def due(history: History, config: HealthConfig) -> list[Alarm]:
    """The alarms that something is to be done about now: at their first step, and again after each further window.

    In between, what was done had no time to show.
    """
    return [alarm for alarm in check(history, config) if _rung(alarm.name, history, config) % config.window == 0]


def _rung(name: str, history: History, config: HealthConfig) -> int:
    """How many steps in a row, before the newest, this alarm was ringing."""
    count = 0
    while any(alarm.name == name for alarm in check(history[: len(history) - 1 - count], config)):
        count += 1
    return count


def _mean(history: History, key: str) -> float | None:
    """The mean over the steps that have this metric; None if none has: nothing is not zero."""
    values = [metrics[key] for metrics in history if key in metrics]
    return fmean(values) if values else None


def _best(history: History, key: str) -> float:
    return max((metrics[key] for metrics in history if key in metrics), default=0.0)


def _death_spiral(recent: History, before: History) -> str:
    valid, best = _mean(recent, "valid"), _best(before, "valid")
    fell = valid is not None and (valid < 0.2 * best or (valid < 0.05 and valid < 0.5 * best))
    return f"{valid:.1%} of the questions are valid, {best:.1%} were" if fell else ""


def _saturation(recent: History, before: History) -> str:
    solved = _mean(recent, "solver/reward_fresh")
    return f"solvers answer {solved:.1%} of new questions" if solved is not None and solved > 0.95 else ""


def _tool_abandonment(recent: History, before: History) -> str:
    searches = _mean(recent, "solver/searches")
    return f"{searches:.2f} searches per attempt" if searches is not None and searches < 0.5 else ""


def _entropy_collapse(recent: History, before: History) -> str:
    entropy = _mean(recent, "update/entropy")
    return f"{entropy:.4f} nats per token" if entropy is not None and entropy < 0.01 else ""


def _duplicates(recent: History, before: History) -> str:
    different = _mean(recent, "proposer/different")
    return f"only {different:.0%} of the valid questions differ" if different is not None and different < 0.7 else ""


def _pool_overfit(recent: History, before: History) -> str:
    pooled, fresh = _mean(recent, "solver/reward_pooled"), _mean(recent, "solver/reward_fresh")
    if pooled is None or fresh is None or pooled - fresh < 0.4:
        return ""
    return f"pooled problems are solved in {pooled:.0%} of attempts, new ones in {fresh:.0%}"


def _outage(recent: History, before: History) -> str:
    failed = sum(_mean(recent, f"endings/{name}") or 0.0 for name in ("search_failed", "engine_failed"))
    undecided, unjudged = _mean(recent, "undecided") or 0.0, _mean(recent, "solver/unjudged") or 0.0
    if max(failed, undecided, unjudged) <= 0.05:
        return ""
    return f"{failed:.0%} of trajectories failed, {undecided:.0%} of questions and {unjudged:.0%} of answers undecided"


def _nothing_to_learn(recent: History, before: History) -> str:
    mixed = _mean(recent, "solver/mixed")
    return f"{mixed:.1%} of the problems have different rewards" if mixed is not None and mixed < 0.02 else ""


def _mismatch(recent: History, before: History) -> str:
    gap = _mean(recent, "update/mismatch")
    return f"log-probabilities differ by {gap:.3f} on average" if gap is not None and gap > 0.05 else ""


RULES = (
    _Rule("death_spiral", _death_spiral, "never punish invalid questions (reward.invalid=0); lower the learning rate"),
    _Rule("saturation", _saturation, "ask for more hops (game.hops) or let the proposer learn (game.roles=both)"),
    _Rule("tool_abandonment", _tool_abandonment, "empty the pool (pool.fill=reset); add learner.kl"),
    _Rule("entropy_collapse", _entropy_collapse, "lower learner.learning_rate, or add learner.entropy or learner.kl"),
    _Rule("duplicates", _duplicates, "draw more different seeds; use credit.proposer=hrpo"),
    _Rule("pool_overfit", _pool_overfit, "empty the pool more often (pool.reset_every) or lower pool.max_age"),
    _Rule("outage", _outage, "look at log.txt, then at the search service, the engine and the judge"),
    _Rule("nothing_to_learn", _nothing_to_learn, "more attempts (game.attempts) or easier questions (game.hops)"),
    _Rule("mismatch", _mismatch, "engine and learner must have the same weights, dtype and temperature"),
)
