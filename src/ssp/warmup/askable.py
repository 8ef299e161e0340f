"""Which answers can be asked for as lessons do: those from which a demonstrated proposer can get away."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssp.seeds.mining import is_date
from ssp.types import Seed
from ssp.warmup.library import Asking, Fact, Library
from ssp.warmup.plain import linked

_TOGETHER = 1024  # queries
_OF_A_KIND = 60  # answers that are asked for in the same words: else every third would be a director's name


@dataclass(frozen=True, slots=True)
class _Way:
    """How far one gets away from an answer, and what is asked at the end of it."""

    hops: int
    asked: Asking | None


def askable(seeds: Sequence[Seed], library: Library, k: int, most: int) -> list[Seed]:
    """Seeds for which a search shows what mentions them, with as many hops as one gets away from them, up to `most`.

    A model that was taught by lessons can propose for these; for the others ("Established", "1,083 feet") nobody has
    shown it how. Of those that are asked for in the same words and over as many hops there are only some; and of dates.
    """
    ways: dict[str, _Way] = {}
    for begin in range(0, len(seeds), _TOGETHER):
        ways |= _ways(seeds[begin : begin + _TOGETHER], library, k, most)
    found = [replace(seed, hops=ways[seed.id].hops) for seed in seeds if seed.id in ways]
    kinds: dict[tuple[int, str], list[str]] = {}
    for seed in found:
        asked = ways[seed.id].asked
        if asked is not None:
            kind = "date" if is_date(seed.answer) else asked.questions[0]
            kinds.setdefault((seed.hops, kind), []).append(seed.id)
    rng = random.Random(0)
    surplus = {one for some in kinds.values() for one in rng.sample(some, max(0, len(some) - _OF_A_KIND))}
    return [seed for seed in found if seed.id not in surplus]


def _ways(seeds: Sequence[Seed], library: Library, k: int, most: int) -> dict[str, _Way]:
    """How many facts lead away from each answer, by searching for one after the other, whichever way goes on."""
    ways: dict[str, _Way] = {}
    going: list[tuple[Seed, tuple[Fact, ...]]] = [(seed, ()) for seed in seeds]
    for depth in range(1, most + 1):
        targets = [chain[0].doc.title if chain else seed.answer for seed, chain in going]
        found = library.searcher.search_now(targets, k)
        going = [
            (seed, (fact, *chain))
            for (seed, chain), hits in zip(going, found, strict=True)
            for fact in linked(library, [hit.doc for hit in hits], seed.answer, chain)
        ]
        ways |= {seed.id: _Way(depth, chain[-1].asked) for seed, chain in reversed(going)}
    return ways
