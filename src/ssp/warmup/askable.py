"""Which answers can be asked for as lessons do: those with which a demonstrated proposer would get to the end."""

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
    """How many facts lead away from each answer, by searching for one after the other."""
    chains: dict[str, tuple[Fact, ...]] = {seed.id: () for seed in seeds}
    going = list(seeds)
    for _ in range(most):
        targets = [chains[seed.id][0].doc.title if chains[seed.id] else seed.answer for seed in going]
        further = []
        for seed, hits in zip(going, library.searcher.search_now(targets, k), strict=True):
            fact = linked(library, [hit.doc for hit in hits], seed.answer, chains[seed.id])
            if fact is not None:
                chains[seed.id] = (fact, *chains[seed.id])
                further.append(seed)
        going = further
    return {name: len(chain) for name, chain in chains.items()}
