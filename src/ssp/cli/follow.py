"""How a run is shown while it goes on: a live table on a terminal, plain lines otherwise, and `log.txt` in any case."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssp.cli.output import note

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from ssp.runs.health import Alarm
    from ssp.runs.watchers import Scores, Watcher

_COLUMNS = (  # name, metric, format
    ("valid", "valid", ".0%"),
    ("true", "true", ".0%"),
    ("solved", "solver/reward_fresh", ".0%"),
    ("hops", "proposer/hops_valid", ".2f"),
    ("searches", "solver/searches", ".2f"),
    ("entropy", "update/entropy", ".2f"),
)
_ROWS = 12  # newest steps in the live table


@contextmanager
def follow(run: Path, console: "Console | None" = None) -> "Iterator[Watcher]":
    """Whoever shows the run, for as long as it goes on."""
    if console is None and not sys.stderr.isatty():
        yield Lines(run)
        return
    with LiveTable(run, console) as table:
        yield table


def lasting(seconds: float) -> str:
    """
    >>> lasting(42.0), lasting(150.0)
    ('42 s', '2.5 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


class Pace:
    """How long the rest will take, by the last ten steps."""

    def __init__(self) -> None:
        self._seconds: list[float] = []

    def step(self, metrics: Mapping[str, Any]) -> tuple[float, str]:
        """Seconds of this step, and the time that is left (nothing after the last one)."""
        seconds = metrics["seconds/play"] + metrics["seconds/update"]
        self._seconds = [*self._seconds[-9:], seconds]
        steps_left = metrics["steps"] - metrics["step"] - 1
        left = steps_left * sum(self._seconds) / len(self._seconds)
        return seconds, lasting(left) if steps_left else ""


class Lines:
    """A line for every step and every evaluation, on standard error and in the run's `log.txt`."""

    def __init__(self, run: Path) -> None:
        self._log = run / "log.txt"
        self._began = time.monotonic()
        self._pace = Pace()
        self._left = ""

    def step(self, metrics: Mapping[str, Any]) -> None:
        seconds, self._left = self._pace.step(metrics)
        parts = [f"{name} {format(metrics[key], form)}" for name, key, form in _COLUMNS if key in metrics]
        parts = [f"step {metrics['step'] + 1}/{metrics['steps']}", *parts, f"{seconds:.1f} s"]
        self._say(" · ".join([*parts, f"{self._left} left"] if self._left else parts))

    def evaluated(self, step: int, scores: "Scores") -> None:
        self._say(f"held out after {step} steps: {in_words(scores)} ({lasting(time.monotonic() - self._began)})")

    def alarm(self, step: int, alarm: "Alarm") -> None:
        self._say(f"! {alarm}")

    def _say(self, line: str) -> None:
        self.show(line)
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")

    def show(self, line: str) -> None:
        note(line)


class LiveTable(Lines):
    """The newest steps as a table that is drawn anew; alarms stay above it."""

    def __init__(self, run: Path, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(run)
        self._rows: list[list[str]] = []
        self._held_out: list[tuple[int, Scores]] = []
        self._live = Live(console=console or Console(stderr=True), get_renderable=self._render, refresh_per_second=2)

    def __enter__(self) -> "LiveTable":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def step(self, metrics: Mapping[str, Any]) -> None:
        cells = [format(metrics[key], form) if key in metrics else "" for _, key, form in _COLUMNS]
        seconds = metrics["seconds/play"] + metrics["seconds/update"]
        row = [f"{metrics['step'] + 1}/{metrics['steps']}", *cells, f"{seconds:.1f}"]
        self._rows = [*self._rows[1 - _ROWS :], row]
        super().step(metrics)

    def evaluated(self, step: int, scores: "Scores") -> None:
        self._held_out = [*self._held_out[:1], (step, scores)]
        super().evaluated(step, scores)

    def alarm(self, step: int, alarm: "Alarm") -> None:
        super().alarm(step, alarm)
        self._live.console.print(f"! {alarm}", style="yellow", markup=False, highlight=False)

    def show(self, line: str) -> None:
        """The table has it."""
        self._live.refresh()

    def _render(self) -> "RenderableType":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table("step", *(name for name, _, _ in _COLUMNS), "seconds", box=None, pad_edge=False)
        for column in table.columns:
            column.justify = "right"
        for row in self._rows:
            table.add_row(*row)
        below = [Text(f"held out after {step} steps: {in_words(scores)}") for step, scores in self._held_out]
        passed = f"{lasting(time.monotonic() - self._began)} passed" + (f", {self._left} left" if self._left else "")
        return Group(table, *below, Text(passed, style="dim"))


def in_words(scores: "Scores") -> str:
    """
    >>> in_words({"world-1": {"accuracy": 0.85}, "world-2": {"accuracy": 0.7}})
    'world-1 85% · world-2 70%'
    """
    return " · ".join(f"{name} {one['accuracy']:.0%}" for name, one in scores.items())
