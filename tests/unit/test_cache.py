"""Searches on disk: cache, record, replay."""

import sqlite3
from pathlib import Path

import pytest

from ssp.errors import DataError, SearchError
from ssp.search.cache import CachedSearcher, CacheMode
from ssp.search.static import FailingSearcher, StaticSearcher
from ssp.types import Doc

DOC, NEWER = Doc("d1", "T", "text"), Doc("d1", "T", "newer")


async def test_the_cache_spares_the_service(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.sqlite"
    first = CachedSearcher(StaticSearcher({"q": [DOC]}), path)
    found = await first.search(["q", "nothing"], 3)
    await first.close()
    down = CachedSearcher(FailingSearcher(), path)
    assert await down.search(["q", "nothing", "q"], 3) == [found[0], found[1], found[0]]
    with pytest.raises(SearchError, match="down"):
        await down.search(["q"], 4)
    await down.close()


async def test_record_asks_again_and_replay_never_asks(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    for doc in (DOC, NEWER):
        recorder = CachedSearcher(StaticSearcher({"q": [doc]}), path, CacheMode.RECORD)
        assert (await recorder.search(["q"], 1))[0][0].doc == doc
        await recorder.close()
    replay = CachedSearcher(None, path, CacheMode.REPLAY)
    assert (await replay.search(["q"], 1))[0][0].doc == NEWER
    with pytest.raises(SearchError, match="no recording of the query 'other'"):
        await replay.search(["other"], 1)
    await replay.close()


async def test_an_outage_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    down = CachedSearcher(FailingSearcher(), path)
    with pytest.raises(SearchError):
        await down.search(["q"], 1)
    await down.close()
    up = CachedSearcher(StaticSearcher({"q": [DOC]}), path)
    assert (await up.search(["q"], 1))[0][0].doc == DOC
    await up.close()


async def test_a_locked_file_is_an_error_once_and_not_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cached = CachedSearcher(StaticSearcher({"q": [DOC], "r": [DOC]}), path)
    cached._disk.execute("PRAGMA busy_timeout=10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SearchError, match="can't write the search cache"):
        await cached.search(["q"], 1)
    other.execute("ROLLBACK")
    assert (await cached.search(["q"], 1))[0][0].doc == DOC
    other.close()
    await cached.close()


async def test_a_replay_works_from_a_read_only_place_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    recorder = CachedSearcher(StaticSearcher({"q": [DOC]}), path, CacheMode.RECORD)
    await recorder.search(["q"], 1)
    await recorder.close()
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    replay = CachedSearcher(None, path, CacheMode.REPLAY)
    assert (await replay.search(["q"], 1))[0][0].doc == DOC
    await replay.close()
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before
    assert list(before) == ["run.sqlite"]


async def test_searches_of_another_source_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    await CachedSearcher(StaticSearcher({}), path, source="http://one").close()
    with pytest.raises(DataError, match="searches of 'http://one', not of 'http://two'"):
        CachedSearcher(StaticSearcher({}), path, source="http://two")


def test_what_can_not_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing to replay"):
        CachedSearcher(None, tmp_path / "absent.sqlite", CacheMode.REPLAY)
    (tmp_path / "text.sqlite").write_text("this is not a database, it is text, and long enough to be read as one" * 20)
    with pytest.raises(DataError, match="not usable as a search cache"):
        CachedSearcher(FailingSearcher(), tmp_path / "text.sqlite")
    with pytest.raises(ValueError, match="only replay"):
        CachedSearcher(None, tmp_path / "x.sqlite")
