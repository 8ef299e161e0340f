"""The pool: earlier valid problems that fill a batch when too few new ones pass. They train the solver only."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ssp.config import PoolConfig
from ssp.rng import python_random
from ssp.text import folded_words
from ssp.types import PoolEntry, Problem

Pool = tuple[PoolEntry, ...]


def draw(pool: Pool, count: int, step: int, config: PoolConfig, key: int) -> list[Problem]:
    """At most so many problems, none twice, and none that was played in the step before."""
    if config.fill not in ("reset", "reuse"):
        return []
    rested = [entry.problem for entry in pool if entry.last_step < step - 1]
    return python_random(key, "pool").sample(rested, min(max(count, 0), len(rested)))


def remember(
    pool: Pool, fresh: Sequence[Problem], results: Mapping[str, tuple[int, int]], step: int, config: PoolConfig
) -> Pool:
    """The pool after a step: old entries age, played ones note how they went, new ones come in, each question once.

    `results` are right answers and attempts by problem id.
    """
    if config.fill not in ("reset", "reuse"):
        return ()
    entries = [*pool, *(PoolEntry(problem, added_step=step, last_step=step) for problem in fresh)]
    kept = (_played(entry, results, step) for entry in entries if step - entry.added_step < config.max_age)
    if config.fill == "reset" and (step + 1) % config.reset_every == 0:
        return ()
    return tuple(_unique(kept))[-config.size :]


def _played(entry: PoolEntry, results: Mapping[str, tuple[int, int]], step: int) -> PoolEntry:
    if entry.problem.id not in results:
        return entry
    right, attempts = results[entry.problem.id]
    return replace(entry, attempts=entry.attempts + attempts, solved=entry.solved + right, last_step=step)


def _unique(entries: Iterable[PoolEntry]) -> Iterable[PoolEntry]:
    seen = set()
    for entry in entries:
        question = tuple(folded_words(entry.problem.question))
        if question not in seen:
            seen.add(question)
            yield entry
