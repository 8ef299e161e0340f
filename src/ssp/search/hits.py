"""Rankings as hits."""

from collections.abc import Sequence

from ssp.search.documents import Documents
from ssp.types import Hit


def rank_hits(documents: Documents, numbers: Sequence[int], scores: Sequence[float]) -> list[Hit]:
    """Hits for document numbers that are already in rank order."""
    pairs = zip(numbers, scores, strict=True)
    return [Hit(documents[number], rank, score) for rank, (number, score) in enumerate(pairs, start=1)]
