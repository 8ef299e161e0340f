"""Index directories: whole or not at all, versioned, checked, shared by processes."""

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssp.errors import DataError
from ssp.search import bm25
from ssp.search.index import build_index, open_index
from ssp.search.manifest import read_manifest, verify_index
from ssp.types import Doc

DOCS = [Doc(str(n), f"Title {n}", f"word{n} common text") for n in range(50)]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    build_index(DOCS, tmp_path / "index")
    return tmp_path / "index"


def test_nothing_is_left_behind_when_the_corpus_is_bad(tmp_path: Path) -> None:
    def broken() -> Iterator[Doc]:
        yield from DOCS
        raise DataError("corpus.jsonl:51: not valid JSON")

    with pytest.raises(DataError, match=r"corpus\.jsonl:51"):
        build_index(broken(), tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_when_interrupted(tmp_path: Path) -> None:
    def interrupted() -> Iterator[Doc]:
        yield DOCS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(interrupted(), tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_never_overwritten(index: Path) -> None:
    before = {path.name: path.read_bytes() for path in index.iterdir()}
    with pytest.raises(DataError, match="exists already"):
        build_index(DOCS[:3], index)
    assert {path.name: path.read_bytes() for path in index.iterdir()} == before


def test_an_empty_directory_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    build_index(DOCS, tmp_path / "index")
    assert len(open_index(tmp_path / "index").search_now(["word7"], 3)[0]) == 1


def test_empty_corpora_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no documents"):
        build_index([], tmp_path / "index")
    with pytest.raises(DataError, match="no words to search for"):
        build_index([Doc("1", "", "...")], tmp_path / "index")
    with pytest.raises(DataError, match=r"two documents with the id '3' \(numbers 4 and 51\)"):
        build_index([*DOCS, DOCS[3]], tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_documents_without_any_word_are_kept_but_never_found(tmp_path: Path) -> None:
    build_index([Doc("1", "", "..."), Doc("2", "", "word")], tmp_path / "index")
    hits = open_index(tmp_path / "index").search_now(["word", "..."], 5)
    assert [[hit.doc.id for hit in row] for row in hits] == [["2"], []]


def test_building_again_gives_the_same_bytes(tmp_path: Path, index: Path) -> None:
    build_index(DOCS, tmp_path / "again")
    for path in index.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_damage_is_found(index: Path) -> None:
    victim = index / "bm25.scores.npy"
    whole = victim.read_bytes()
    verify_index(index)
    victim.write_bytes(whole[:-4])
    with pytest.raises(DataError, match=r"bm25\.scores\.npy is damaged .* build the index again"):
        open_index(index)
    victim.write_bytes(whole[:-4] + b"\0\0\0\0")
    open_index(index)
    with pytest.raises(DataError, match="checksum differs"):
        verify_index(index)
    victim.unlink()
    with pytest.raises(DataError, match="is missing"):
        open_index(index)


def test_other_versions_and_strangers_are_refused(index: Path, tmp_path: Path) -> None:
    manifest = json.loads((index / "index.json").read_text())
    (index / "index.json").write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(DataError, match="index version 99, this ssp reads 1"):
        read_manifest(index)
    (index / "index.json").write_text(json.dumps(manifest | {"version": 99, "field of the future": 1}))
    with pytest.raises(DataError, match="index version 99"):
        read_manifest(index)
    (index / "index.json").write_text(json.dumps(manifest | {"analyzer": 99}))
    with pytest.raises(DataError, match="other rules for words"):
        read_manifest(index)
    (index / "index.json").write_text("{}")
    with pytest.raises(DataError, match="not readable"):
        read_manifest(index)
    with pytest.raises(DataError, match="is not an index"):
        read_manifest(tmp_path)
    with pytest.raises(DataError, match=r"no index at .* build one with"):
        read_manifest(tmp_path / "absent")


def test_nothing_is_pickled(index: Path) -> None:
    for path in index.glob("*.npy"):
        head = path.read_bytes()[:128]
        assert b"|O" not in head


def _search(index: str) -> list[str]:
    return [hit.doc.id for hit in open_index(Path(index)).search_now(["word7 common"], 5)[0]]


def test_several_processes_share_an_index(index: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(_search, [str(index)] * 4)
    assert found == [_search(str(index))] * 4
    assert found[0][0] == "7"


def test_links_homes_and_mounts_as_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    build_index(DOCS[:2], Path("~/at-home"))
    assert (tmp_path / "at-home" / "index.json").is_file()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    build_index(DOCS[:2], tmp_path / "link")
    assert (tmp_path / "empty" / "index.json").is_file()
    with pytest.raises(DataError, match="can't write"):
        build_index(DOCS[:2], Path("x" * 5000))


def test_many_queries_with_a_huge_k_need_no_huge_memory(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "_MAX_CELLS", 100)
    searcher = open_index(index)
    queries = [f"word{n} common" for n in range(20)]
    assert searcher.search_now(queries, 10**9) == [searcher.search_now([query], 50)[0] for query in queries]


def test_a_very_long_query_is_answered(index: Path) -> None:
    searcher = open_index(index)
    assert searcher.search_now(["word7 " * 200_000], 1)[0][0].doc.id == "7"
