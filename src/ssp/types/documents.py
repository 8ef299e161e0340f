"""The corpus side: what is searched and what a search returned."""

import math
from dataclasses import dataclass

from ssp.types.check import require


@dataclass(frozen=True, slots=True)
class Doc:
    """One document (a passage, an article). The id is unique in its corpus and links all records to it.

    >>> Doc(id="d1", title="Oakmere", text="Oakmere is a town.").contents
    '"Oakmere"\\nOakmere is a town.'
    """

    id: str
    title: str
    text: str

    def __post_init__(self) -> None:
        if not self.id:  # a plain test: documents and hits are made by the hundred thousand
            raise ValueError("a Doc needs an id")

    @property
    def contents(self) -> str:
        """Title and text in the one-field form of the `/retrieve` protocol."""
        return f'"{self.title}"\n{self.text}'


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found for a query. Ranks count from 1; a higher score is better.

    >>> Hit(doc=Doc("d1", "Oakmere", "…"), rank=1, score=7.5).rank
    1
    """

    doc: Doc
    rank: int
    score: float

    def __post_init__(self) -> None:
        if self.rank < 1 or not math.isfinite(self.score):
            raise ValueError(f"a Hit needs a rank from 1 and a finite score, got {self.rank} and {self.score}")


@dataclass(frozen=True, slots=True)
class SearchCall:
    """One query of an agent and what came back: hits in rank order, or the error that prevented them.

    >>> call = SearchCall(query="mayor of Oakmere", hits=(), seconds=0.002, error=None)
    >>> call.failed
    False
    >>> SearchCall("q", (), 1.0, error="search service did not answer").failed
    True
    """

    query: str
    hits: tuple[Hit, ...]
    seconds: float
    error: str | None = None

    def __post_init__(self) -> None:
        ranks = tuple(hit.rank for hit in self.hits)
        require(ranks == tuple(range(1, len(ranks) + 1)), f"hits must be ranked 1, 2, …, got {ranks}")
        require(0.0 <= self.seconds < math.inf, f"seconds must be finite, not negative, got {self.seconds}")
        require(self.error is None or not self.hits, "a failed search has no hits")

    @property
    def failed(self) -> bool:
        return self.error is not None
