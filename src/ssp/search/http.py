"""Search over HTTP: any service that speaks the `/retrieve` protocol of the field.

Retries happen here and nowhere else. Connections are pooled, identical queries that are under way at the same
time are asked once, and when the service can't be had a typed SearchError says so. Queries are cut at the length that
`ssp serve` takes, so that one rambling query can't fail the batch it travels in.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import httpx
import orjson
import stamina

from ssp.errors import SearchError
from ssp.search.corpus import title_and_text
from ssp.search.wire import MAX_QUERY_CHARACTERS, MAX_TOP_K
from ssp.text import valid_unicode
from ssp.types import Doc, Hit

MAX_BATCH = 128
_PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class _PassingFailure(Exception):
    """The request is worth repeating."""


class HttpSearcher:
    """A client of one search service.

    `url` is the service's address, with or without `/retrieve`. A `transport` puts a function in place of the
    network, for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        attempts: int = 5,
        connections: int = 32,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise SearchError(f"{url!r} is not a search address; it should begin with http:// or https://")
        base = url.rstrip("/")
        self.url = base if base.endswith("/retrieve") else f"{base}/retrieve"
        self._attempts = attempts
        self._under_way: dict[tuple[str, int], asyncio.Future[list[Hit]]] = {}
        self._tasks: set[asyncio.Task[list[list[Hit]]]] = set()
        self._client = httpx.AsyncClient(
            timeout=timeout,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            transport=transport,
        )

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
        await self._client.aclose()

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
        body = orjson.dumps({"queries": queries, "topk": k, "return_scores": True})
        try:
            async for attempt in stamina.retry_context(
                on=_PassingFailure, attempts=self._attempts, timeout=None, wait_initial=0.1, wait_max=10.0
            ):
                with attempt:
                    return parse_result(await self._post(body), len(queries), k)
        except _PassingFailure as failure:
            raise SearchError(f"{self.url} did not answer after {self._attempts} tries: {failure}") from None
        raise AssertionError("unreachable: the retry context returns or raises")

    async def _post(self, body: bytes) -> Any:
        try:
            response = await self._client.post(self.url, content=body, headers={"Content-Type": "application/json"})
        except httpx.TransportError as error:
            raise _PassingFailure(str(error) or type(error).__name__) from None
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise SearchError(f"{self.url} can't be asked: {error}") from None
        if response.status_code in _PASSING_STATUS:
            raise _PassingFailure(f"status {response.status_code}")
        if response.status_code != 200:
            raise SearchError(f"{self.url} refused: status {response.status_code}: {response.text[:200]}")
        try:
            return orjson.loads(response.content)
        except orjson.JSONDecodeError:
            raise SearchError(f"{self.url} answered something that is not JSON") from None


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
