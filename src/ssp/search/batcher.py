"""Gathering queries of concurrent requests into batches, so that a busy server searches many at a time."""

import asyncio
from collections.abc import Sequence
from functools import partial

from ssp.protocols import LocalSearcher, Searcher
from ssp.types import Hit

_Found = list[list[Hit]]
_Job = tuple[Sequence[str], int, asyncio.Future[_Found]]


class Batcher:
    """A searcher in front of another: while one batch is being searched, the next one gathers.

    Nothing waits for a timer: a lone request is searched at once. A request is never split over two batches. Local
    searchers run in worker threads, `workers` batches at a time.
    """

    def __init__(self, inner: Searcher, *, max_queries: int = 256, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"a batcher needs at least one worker, got {workers}")
        self._inner = inner
        self._max_queries = max_queries
        self._waiting: list[_Job] = []
        self._free = workers
        self._running: set[asyncio.Task[_Found]] = set()

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        answer: asyncio.Future[_Found] = asyncio.get_running_loop().create_future()
        self._waiting.append((queries, k, answer))
        self._start()
        return await answer

    async def close(self) -> None:
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._inner.close()

    def _start(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            jobs = self._take()
            queries = [query for job_queries, _, _ in jobs for query in job_queries]
            task = asyncio.create_task(self._search(queries, jobs[0][1]))
            self._running.add(task)
            task.add_done_callback(partial(self._finish, jobs))

    def _take(self) -> list[_Job]:
        """The longest run of waiting jobs with the same k that fits a batch (one job always fits)."""
        count, total, k = 0, 0, self._waiting[0][1]
        for queries, wanted, _ in self._waiting:
            total += len(queries)
            if wanted != k or (count and total > self._max_queries):
                break
            count += 1
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    async def _search(self, queries: Sequence[str], k: int) -> _Found:
        if isinstance(self._inner, LocalSearcher):
            return await asyncio.to_thread(self._inner.search_now, queries, k)
        return await self._inner.search(queries, k)

    def _finish(self, jobs: list[_Job], task: asyncio.Task[_Found]) -> None:
        """Hand the answers, or the error, to those who wait; then start the next batch."""
        self._running.discard(task)
        self._free += 1
        start = 0
        for queries, _, answer in jobs:
            if answer.done():  # its request was cancelled
                pass
            elif task.cancelled():
                answer.cancel()
            elif error := task.exception():
                answer.set_exception(error)
            else:
                answer.set_result(task.result()[start : start + len(queries)])
            start += len(queries)
        self._start()
