"""Which answers can be asked for as lessons do: those from which a demonstrated proposer can get away."""

from collections.abc import Sequence
from dataclasses import replace

from ssp.types import Seed
from ssp.warmup.library import Fact, Library
from ssp.warmup.plain import linked

_TOGETHER = 1024  # queries


def askable(seeds: Sequence[Seed], library: Library, k: int, most: int) -> list[Seed]:
    """Seeds for which a search shows what mentions them, with as many hops as one gets away from them, up to `most`.

    A model that was taught by lessons can propose for these; for the others ("Established", "1,083 feet") nobody has
    shown it how.
    """
    depths: dict[str, int] = {}
    for begin in range(0, len(seeds), _TOGETHER):
        depths |= _depths(seeds[begin : begin + _TOGETHER], library, k, most)
    return [replace(seed, hops=depths[seed.id]) for seed in seeds if depths[seed.id]]


def _depths(seeds: Sequence[Seed], library: Library, k: int, most: int) -> dict[str, int]:
    """How many facts lead away from each answer, by searching for one after the other, whichever way goes on."""
    depths = dict.fromkeys((seed.id for seed in seeds), 0)
    going: list[tuple[Seed, tuple[Fact, ...]]] = [(seed, ()) for seed in seeds]
    for depth in range(1, most + 1):
        targets = [chain[0].doc.title if chain else seed.answer for seed, chain in going]
        found = library.searcher.search_now(targets, k)
        going = [
            (seed, (fact, *chain))
            for (seed, chain), hits in zip(going, found, strict=True)
            for fact in linked(library, [hit.doc for hit in hits], seed.answer, chain)
        ]
        depths |= dict.fromkeys((seed.id for seed, _ in going), depth)
    return depths
