"""Searchers made of what they should return: for tests, examples and documentation."""

from collections.abc import Mapping, Sequence

from ssp.errors import SearchError
from ssp.types import Doc, Hit


class StaticSearcher:
    """Returns the documents listed for a query, in that order; nothing for others.

    >>> import asyncio
    >>> searcher = StaticSearcher({"mayor of Oakmere": [Doc("d1", "Oakmere", "The mayor of Oakmere is Mira.")]})
    >>> [hit.doc.id for hit in asyncio.run(searcher.search(["mayor of Oakmere"], k=3))[0]]
    ['d1']
    """

    def __init__(self, answers: Mapping[str, Sequence[Doc]]) -> None:
        self._answers = {query: list(dict.fromkeys(docs)) for query, docs in answers.items()}

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return self.search_now(queries, k)

    def search_now(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [
            [Hit(doc, rank, 1.0 / rank) for rank, doc in enumerate(self._answers.get(query, [])[:k], start=1)]
            for query in queries
        ]

    async def close(self) -> None:
        return None


class FailingSearcher:
    """Always fails, as a search service does that is down."""

    def __init__(self, message: str = "the search service is down") -> None:
        self._message = message

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        raise SearchError(self._message)

    async def close(self) -> None:
        return None
