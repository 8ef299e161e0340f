"""Remembering searches on disk: to spare a service, or to record a run and replay it without the service."""

import sqlite3
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import orjson

from ssp.errors import DataError, SearchError
from ssp.protocols import Searcher
from ssp.types import Doc, Hit


class CacheMode(StrEnum):
    """What to do with the disk."""

    CACHE = "cache"  # answer from disk where possible, ask and remember otherwise
    RECORD = "record"  # always ask, remember the newest answer
    REPLAY = "replay"  # answer from disk only; what was not recorded is an error


class CachedSearcher:
    """A searcher in front of another. The file is SQLite with one row per (query, k)."""

    def __init__(self, inner: Searcher | None, path: Path, mode: CacheMode = CacheMode.CACHE) -> None:
        if inner is None and mode is not CacheMode.REPLAY:
            raise ValueError("only replay works without a searcher")
        if mode is CacheMode.REPLAY and not path.is_file():
            raise DataError(f"nothing to replay: no recording at {path}")
        self._inner, self._mode, self._path = inner, mode, path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._disk = sqlite3.connect(path, isolation_level=None, timeout=30.0)
            self._disk.execute("PRAGMA journal_mode=WAL")
            self._disk.execute(
                "CREATE TABLE IF NOT EXISTS searches (query TEXT, k INTEGER, hits BLOB, PRIMARY KEY (query, k))"
            )
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{path}: not usable as a search cache ({error})") from None

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        wanted = list(dict.fromkeys(queries))
        known = {} if self._mode is CacheMode.RECORD else self._read(wanted, k)
        missing = [query for query in wanted if query not in known]
        if missing:
            if self._inner is None or self._mode is CacheMode.REPLAY:
                raise SearchError(f"{self._path} has no recording of the query {missing[0]!r} with k={k}")
            answers = await self._inner.search(missing, k)
            fresh = dict(zip(missing, answers, strict=True))
            self._write(fresh, k)
            known |= fresh
        return [list(known[query]) for query in queries]

    async def close(self) -> None:
        self._disk.close()
        if self._inner is not None:
            await self._inner.close()

    def _read(self, queries: Sequence[str], k: int) -> dict[str, list[Hit]]:
        select = "SELECT hits FROM searches WHERE query = ? AND k = ?"
        rows = ((query, self._disk.execute(select, (query, k)).fetchone()) for query in queries)
        return {query: _decode(row[0]) for query, row in rows if row is not None}

    def _write(self, answers: dict[str, list[Hit]], k: int) -> None:
        rows = [(query, k, _encode(hits)) for query, hits in answers.items()]
        self._disk.execute("BEGIN")
        self._disk.executemany("INSERT OR REPLACE INTO searches VALUES (?, ?, ?)", rows)
        self._disk.execute("COMMIT")


def _encode(hits: Sequence[Hit]) -> bytes:
    return orjson.dumps([[hit.doc.id, hit.doc.title, hit.doc.text, hit.score] for hit in hits])


def _decode(blob: bytes) -> list[Hit]:
    rows = orjson.loads(blob)
    return [Hit(Doc(i, title, text), rank, score) for rank, (i, title, text, score) in enumerate(rows, start=1)]
