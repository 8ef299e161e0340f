"""Which answers can be asked for as lessons do: those from which a demonstrated proposer can get away."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    shown it how. Of those that are asked for in the same words and over as many hops there are only some.
    """
    ways: dict[str, _Way] = {}
    for begin in range(0, len(seeds), _TOGETHER):
        ways |= _ways(seeds[begin : begin + _TOGETHER], library, k, most)
    kept: list[Seed] = []
    counts: Counter[_Way] = Counter()
    for seed in seeds:
        if (way := ways.get(seed.id)) is None:
            continue
        counts[way] += 1
        if way.asked is None or counts[way] <= _OF_A_KIND:
            kept.append(replace(seed, hops=way.hops))
    return kept


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
