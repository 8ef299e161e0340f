"""Which answers a proposer can get at: those that a search for them shows in a document about something else."""

from collections.abc import Sequence

from ssp.protocols import LocalSearcher
from ssp.text import leaks
from ssp.types import Seed

_TOGETHER = 1024  # queries


def within_reach(seeds: Sequence[Seed], searcher: LocalSearcher, k: int, visible: int) -> list[Seed]:
    """Seeds whose answer stands in the first `visible` characters of one of the k documents found by it.

    >>> from ssp.search.static import StaticSearcher
    >>> from ssp.types import Doc
    >>> found = [Doc("1", "Oakmere", "Its mayor is Mira Dolven.")]
    >>> searcher = StaticSearcher({"Mira Dolven": found, "Dunford": found})
    >>> [one.answer for one in within_reach([Seed("a", "Mira Dolven"), Seed("b", "Dunford")], searcher, 3, 300)]
    ['Mira Dolven']
    """
    reached: list[Seed] = []
    for begin in range(0, len(seeds), _TOGETHER):
        block = seeds[begin : begin + _TOGETHER]
        results = searcher.search_now([seed.answer for seed in block], k)
        for seed, hits in zip(block, results, strict=True):
            others = (hit.doc for hit in hits if not leaks(hit.doc.title, seed.accepted))
            if any(leaks(doc.text[:visible], seed.accepted) for doc in others):
                reached.append(seed)
    return reached
