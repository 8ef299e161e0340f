"""Batches gather while a search runs, and every caller gets its own answer."""

import asyncio
from collections.abc import Sequence

import pytest

from ssp.errors import SearchError
from ssp.search.batcher import Batcher
from ssp.search.static import FailingSearcher
from ssp.types import Doc, Hit


class SlowSearcher:
    """Finds a document named like the query, slowly, and remembers the batches."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, int]] = []
        self.closed = False

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        self.batches.append((len(queries), k))
        await asyncio.sleep(0.02)
        return [[Hit(Doc(query, "", ""), 1, 1.0)] for query in queries]

    async def close(self) -> None:
        self.closed = True


async def test_requests_gather_while_one_is_searched() -> None:
    inner = SlowSearcher()
    batcher = Batcher(inner, max_queries=8)
    found = await asyncio.gather(*(batcher.search([f"a{n}", f"b{n}"], 3) for n in range(9)))
    assert [[hits[0].doc.id for hits in pair] for pair in found] == [[f"a{n}", f"b{n}"] for n in range(9)]
    assert inner.batches == [(2, 3), (8, 3), (8, 3)]
    await batcher.close()
    assert inner.closed


async def test_different_k_are_not_mixed_and_long_requests_not_split() -> None:
    inner = SlowSearcher()
    batcher = Batcher(inner, max_queries=4)
    jobs = [(["x"], 1), (["a"], 2), (["b"], 3), ([str(n) for n in range(10)], 3)]
    found = await asyncio.gather(*(batcher.search(queries, k) for queries, k in jobs))
    assert [len(pair) for pair in found] == [1, 1, 1, 10]
    assert inner.batches == [(1, 1), (1, 2), (1, 3), (10, 3)]


async def test_a_failure_reaches_its_callers_and_the_next_batch_runs() -> None:
    batcher = Batcher(FailingSearcher())
    for _ in range(2):
        with pytest.raises(SearchError):
            await batcher.search(["q"], 1)


async def test_a_cancelled_request_does_not_hold_up_others() -> None:
    batcher = Batcher(SlowSearcher())
    tasks = [asyncio.create_task(batcher.search([str(n)], 1)) for n in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(found[1], asyncio.CancelledError)
    assert [hits[0][0].doc.id for n, hits in enumerate(found) if n != 1 and isinstance(hits, list)] == ["0", "2", "3"]
