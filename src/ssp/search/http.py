"""Search over HTTP: any service that speaks the `/retrieve` protocol of the field.

Identical queries that are under way at the same time are asked once, and when the service can't be had a typed
SearchError says so. Queries are cut at the length that `ssp serve` takes, so that one rambling query can't fail the
batch it travels in.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

from ssp.errors import SearchError
from ssp.search.corpus import title_and_text
from ssp.search.wire import MAX_QUERY_CHARACTERS, MAX_TOP_K
from ssp.service import Options, Service
from ssp.text import valid_unicode
from ssp.types import Doc, Hit

MAX_BATCH = 128


class HttpSearcher:
    """A client of one search service.

    `url` is the service's address, with or without `/retrieve`; `options` are those of `ssp.service.Service`.
    """

    def __init__(self, url: str, **options: Unpack[Options]) -> None:
        if not url.startswith(("http://", "https://")):
            raise SearchError(f"{url!r} is not a search address; it should begin with http:// or https://")
        base = url.rstrip("/")
        self.url = base if base.endswith("/retrieve") else f"{base}/retrieve"
        self._service = Service(self.url, SearchError, **options)
        self._under_way: dict[tuple[str, int], asyncio.Future[list[Hit]]] = {}
        self._tasks: set[asyncio.Task[list[list[Hit]]]] = set()

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        if k < 1:
            return [[] for _ in queries]
        k = min(k, MAX_TOP_K)
        asked = [valid_unicode(query)[:MAX_QUERY_CHARACTERS] for query in queries]
        fresh = [query for query in dict.fromkeys(asked) if (query, k) not in self._under_way]
        for query in fresh:
            self._under_way[query, k] = asyncio.get_running_loop().create_future()
        answers = [self._under_way[query, k] for query in asked]
        for start in range(0, len(fresh), MAX_BATCH):
            batch = fresh[start : start + MAX_BATCH]
            task = asyncio.create_task(self._retrieve(batch, k))
            self._tasks.add(task)
            task.add_done_callback(partial(self._settle, batch, k))
        found = await asyncio.gather(*(asyncio.shield(answer) for answer in answers))  # others may wait for them too
        return [list(hits) for hits in found]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._service.close()

    def _settle(self, queries: list[str], k: int, task: asyncio.Task[list[list[Hit]]]) -> None:
        """Hand the answers, or the error, to everybody who waits for one of the batch's queries."""
        self._tasks.discard(task)
        for place, query in enumerate(queries):
            future = self._under_way.pop((query, k))
            if task.cancelled():
                future.cancel()
            elif error := task.exception():
                future.set_exception(error)
                future.exception()  # looked at: a caller that was cancelled will not do so
            else:
                future.set_result(task.result()[place])

    async def _retrieve(self, queries: list[str], k: int) -> list[list[Hit]]:
        body = {"queries": queries, "topk": k, "return_scores": True}
        return parse_result(await self._service.ask(body), len(queries), k)


def parse_result(answer: Any, expected: int, k: int) -> list[list[Hit]]:
    """Hits from the protocol's answer, with or without scores; at most k a query, none twice.

    >>> parse_result({"result": [[{"id": "7", "contents": '"Oakmere"\\nA town.'}]]}, expected=1, k=3)[0][0].doc.title
    'Oakmere'
    """
    rows = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or len(rows) != expected or not all(isinstance(row, list) for row in rows):
        raise SearchError(f"the search service answered in an unknown form (no result list for {expected} queries)")
    return [_ranked(row, k) for row in rows]


def _ranked(items: list[Any], k: int) -> list[Hit]:
    found: dict[str, tuple[Doc, float | None]] = {}
    for item in items:
        doc, score = _document(item)
        found.setdefault(doc.id, (doc, score))
    best = list(found.values())[:k]
    return [Hit(doc, rank, 1.0 / rank if score is None else score) for rank, (doc, score) in enumerate(best, start=1)]


def _document(item: Any) -> tuple[Doc, float | None]:
    wrapped = isinstance(item, dict) and isinstance(item.get("document"), dict)
    document = item["document"] if wrapped else item
    score = item.get("score") if wrapped else None
    if not isinstance(document, dict):
        raise SearchError("the search service answered in an unknown form (a document is not an object)")
    content = title_and_text(document)
    if content is None:
        raise SearchError("the search service answered a document without contents")
    doc_id = document.get("id")
    named = str(doc_id) if isinstance(doc_id, (str, int)) and str(doc_id) else _fingerprint(*content)
    return Doc(named, *content), float(score) if isinstance(score, (int, float)) else None


def _fingerprint(title: str, text: str) -> str:
    """An id for documents of a service that gives none."""
    return hashlib.blake2b(f"{title}\n{text}".encode(), digest_size=8).hexdigest()
