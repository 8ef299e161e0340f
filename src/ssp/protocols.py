"""The seams: small protocols behind which implementations can be exchanged.

A seam has at most five methods, and a scripted fake of each ships with the package (for search:
`ssp.search.static`). Contract tests in tests/contract run against every implementation.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ssp.types import Hit


class Searcher(Protocol):
    """Finds documents.

    For each query, in order, a list of at most k hits: ranks from 1, scores falling, equal scores in corpus order,
    no document twice. A query that matches nothing (an empty one, say) has an empty list. Raises SearchError when
    it can't answer; never invents an empty answer for an outage.
    """

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]: ...

    async def close(self) -> None: ...


@runtime_checkable
class LocalSearcher(Searcher, Protocol):
    """A searcher that computes in this process. `search_now` is the same call without an event loop."""

    def search_now(self, queries: Sequence[str], k: int) -> list[list[Hit]]: ...
