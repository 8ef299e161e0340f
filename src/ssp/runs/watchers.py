"""Who follows a run while it goes on."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ssp.protocols import Monitor
from ssp.runs.health import Alarm

Scores = dict[str, dict[str, float]]  # by set: accuracy, number of questions, searches


class Watcher(Protocol):
    """Is told what happened. Must not fail."""

    def step(self, metrics: Mapping[str, Any]) -> None: ...

    def evaluated(self, step: int, scores: Scores) -> None: ...

    def alarm(self, step: int, alarm: Alarm) -> None: ...


class Together:
    """Several watchers as one."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = watchers

    def step(self, metrics: Mapping[str, Any]) -> None:
        for watcher in self._watchers:
            watcher.step(metrics)

    def evaluated(self, step: int, scores: Scores) -> None:
        for watcher in self._watchers:
            watcher.evaluated(step, scores)

    def alarm(self, step: int, alarm: Alarm) -> None:
        for watcher in self._watchers:
            watcher.alarm(step, alarm)


class Tracked:
    """What happens in a run, in the numbers that a tracker can plot."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def step(self, metrics: Mapping[str, Any]) -> None:
        numbers = {name: float(value) for name, value in metrics.items() if isinstance(value, int | float)}
        self._monitor.log(
            metrics["step"] + 1, {name: numbers[name] for name in numbers if name not in ("step", "steps")}
        )

    def evaluated(self, step: int, scores: Scores) -> None:
        self._monitor.log(
            step, {f"held-out/{name}/{kind}": value for name, one in scores.items() for kind, value in one.items()}
        )

    def alarm(self, step: int, alarm: Alarm) -> None:
        self._monitor.log(step + 1, {f"alarm/{alarm.name}": 1.0})
