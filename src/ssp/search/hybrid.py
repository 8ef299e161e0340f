"""Rank fusion of BM25 and dense search.

The smoothing and the weight of the dense ranking were chosen on training questions (docs/results.md); the usual
smoothing of 60 is meant for many rankings of equal quality, and loses here what BM25 has at the top.
"""

from collections.abc import Sequence

from ssp.search.bm25 import Bm25Searcher
from ssp.search.dense import DenseSearcher
from ssp.search.hits import rank_hits
from ssp.types import Hit

DEPTH = 100
SMOOTHING = 5.0
DENSE_WEIGHT = 0.7


def fuse(rankings: Sequence[tuple[Sequence[int], float]], k: int) -> list[tuple[int, float]]:
    """Reciprocal rank fusion: a document scores weight / (SMOOTHING + rank) in each weighted ranking that has it.

    >>> [number for number, _ in fuse([([7, 3], 1.0), ([3, 9], 0.5)], k=3)]
    [3, 7, 9]
    """
    scores: dict[int, float] = {}
    for ranking, weight in rankings:
        for rank, number in enumerate(ranking, start=1):
            scores[number] = scores.get(number, 0.0) + weight / (SMOOTHING + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]


class HybridSearcher:
    """Fuses the rankings of a BM25 and a dense searcher over the same documents."""

    def __init__(self, sparse: Bm25Searcher, dense: DenseSearcher) -> None:
        self._sparse, self._dense = sparse, dense

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return self.search_now(queries, k)

    async def close(self) -> None:
        await self._sparse.close()
        await self._dense.close()

    def search_now(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        depth = max(k, DEPTH)
        sparse = self._sparse.rank_now(queries, depth)
        dense = self._dense.rank_now(queries, depth)
        found = [
            fuse([(left, 1.0), (right, DENSE_WEIGHT)], k) for (left, _), (right, _) in zip(sparse, dense, strict=True)
        ]
        rankings = [([number for number, _ in best], [score for _, score in best]) for best in found]
        return rank_hits(self._sparse.documents, rankings)
