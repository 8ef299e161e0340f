"""Remembering searches on disk: to spare a service, or to record a run and replay it without the service."""

import sqlite3
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import orjson

from ssp.errors import DataError, SearchError
from ssp.protocols import Searcher
from ssp.text import valid_unicode
from ssp.types import Doc, Hit


class CacheMode(StrEnum):
    """What to do with the disk."""

    CACHE = "cache"  # answer from disk where possible, ask and remember otherwise
    RECORD = "record"  # always ask, remember the newest answer
    REPLAY = "replay"  # answer from disk only; what was not recorded is an error


class CachedSearcher:
    """A searcher in front of another. The file is SQLite with one row per (query, k).

    `source` names what is searched (an address, an index); a file that was filled from another source is refused.
    """

    def __init__(self, inner: Searcher | None, path: Path, mode: CacheMode = CacheMode.CACHE, source: str = "") -> None:
        if inner is None and mode is not CacheMode.REPLAY:
            raise ValueError("only replay works without a searcher")
        if mode is CacheMode.REPLAY and not path.is_file():
            raise DataError(f"nothing to replay: no recording at {path}")
        self._inner, self._mode, self._path = inner, mode, path
        try:
            self._disk = _open_recording(path) if mode is CacheMode.REPLAY else _open_cache(path)
            recorded = self._disk.execute("SELECT source FROM origin").fetchone()
            if recorded is None:
                self._disk.execute("INSERT INTO origin VALUES (?)", (source,))
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{path}: not usable as a search cache ({error})") from None
        if recorded is not None and recorded[0] != source:
            raise DataError(f"{path} has searches of {recorded[0]!r}, not of {source!r}; use another file")

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        queries = [valid_unicode(query) for query in queries]
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
        if self._mode is not CacheMode.REPLAY:
            self._disk.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # one file, complete, for a later replay
        self._disk.close()
        if self._inner is not None:
            await self._inner.close()

    def _read(self, queries: Sequence[str], k: int) -> dict[str, list[Hit]]:
        select = "SELECT hits FROM searches WHERE query = ? AND k = ?"
        rows = ((query, self._disk.execute(select, (query, k)).fetchone()) for query in queries)
        return {query: _decode(row[0]) for query, row in rows if row is not None}

    def _write(self, answers: dict[str, list[Hit]], k: int) -> None:
        rows = [(query, k, _encode(hits)) for query, hits in answers.items()]
        try:
            with self._disk:  # commits, or rolls back
                self._disk.execute("BEGIN IMMEDIATE")
                self._disk.executemany("INSERT OR REPLACE INTO searches VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise SearchError(f"{self._path}: can't write the search cache ({error})") from None


def _open_cache(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    disk = sqlite3.connect(path, isolation_level=None, timeout=10.0)
    disk.execute("PRAGMA journal_mode=WAL")
    disk.execute("CREATE TABLE IF NOT EXISTS searches (query TEXT, k INTEGER, hits BLOB, PRIMARY KEY (query, k))")
    disk.execute("CREATE TABLE IF NOT EXISTS origin (source TEXT)")
    return disk


def _open_recording(path: Path) -> sqlite3.Connection:
    """Read-only: a replay changes nothing, and works from a read-only place."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _encode(hits: Sequence[Hit]) -> bytes:
    return orjson.dumps([[hit.doc.id, hit.doc.title, hit.doc.text, hit.score] for hit in hits])


def _decode(blob: bytes) -> list[Hit]:
    rows = orjson.loads(blob)
    return [Hit(Doc(i, title, text), rank, score) for rank, (i, title, text, score) in enumerate(rows, start=1)]
