"""How commands speak: answers to standard output, progress to standard error."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import orjson


class Advance(Protocol):
    """Reports progress: `advance("reading", 100)` means 100 more were read."""

    def __call__(self, stage: str, count: int) -> None: ...


def say(text: str = "") -> None:
    """A line of the answer."""
    sys.stdout.write(f"{text}\n")


def say_json(value: Any) -> None:
    """The answer as one JSON object on one line."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")


def note(text: str) -> None:
    """A line about what is going on; not part of the answer."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def progress(total: int | None = None) -> Iterator[Advance]:
    """Progress by stages: a live bar on a terminal, a plain line every few seconds otherwise."""
    with _live_progress(total) if sys.stderr.isatty() else _plain_progress(total) as advance:
        yield advance


@contextmanager
def _live_progress(total: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, Any] = {}

        def advance(stage: str, count: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.advance(tasks[stage], count)

        yield advance


@contextmanager
def _plain_progress(total: int | None, every: float = 5.0) -> Iterator[Advance]:
    done: dict[str, int] = {}
    last = time.monotonic()

    def advance(stage: str, count: int) -> None:
        nonlocal last
        done[stage] = done.get(stage, 0) + count
        if time.monotonic() - last >= every:
            last = time.monotonic()
            note(f"{stage}: {done[stage]:,}" + (f" of {total:,}" if total else ""))

    yield advance
