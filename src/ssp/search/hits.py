"""Rankings as hits."""

from collections.abc import Sequence

from ssp.search.documents import Documents
from ssp.types import Hit

Ranking = tuple[Sequence[int], Sequence[float]]
"""Document numbers and scores of one query, best first."""


def rank_hits(documents: Documents, rankings: Sequence[Ranking]) -> list[list[Hit]]:
    """The hits of several queries; a document that several of them found is read once."""
    docs = documents.read({number for numbers, _ in rankings for number in numbers})
    return [
        [Hit(docs[number], rank, score) for rank, (number, score) in enumerate(zip(*ranking, strict=True), start=1)]
        for ranking in rankings
    ]
