"""The HTTP searcher: protocol, retries, typed failure, and no query asked twice at once."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from ssp.errors import SearchError
from ssp.search.http import HttpSearcher, parse_result


def answer(request: httpx.Request) -> httpx.Response:
    queries = json.loads(request.content)["queries"]
    rows = [[{"document": {"id": q, "contents": f'"{q}"\ntext'}, "score": 2.5}] for q in queries]
    return httpx.Response(200, json={"result": rows})


def client(handler: Callable[[httpx.Request], Any], **options: Any) -> HttpSearcher:
    return HttpSearcher("http://search.test/", transport=httpx.MockTransport(handler), **options)


async def test_speaks_the_protocol() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answer(request)

    found = await client(handler, token="secret").search(["a", "b"], 3)
    assert [hits[0].doc.id for hits in found] == ["a", "b"]
    assert found[0][0].doc.text == "text"
    assert str(seen[0].url) == "http://search.test/retrieve"
    assert json.loads(seen[0].content) == {"queries": ["a", "b"], "topk": 3, "return_scores": True}
    assert seen[0].headers["authorization"] == "Bearer secret"


async def test_passing_failures_are_repeated() -> None:
    failures: list[Exception | httpx.Response] = [
        httpx.ConnectError("refused"),
        httpx.Response(503),
        httpx.ReadTimeout("slow"),
        httpx.Response(429),
    ]

    def handler(request: httpx.Request) -> httpx.Response:
        if failures:
            failure = failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        return answer(request)

    assert (await client(handler).search(["a"], 1))[0][0].doc.id == "a"
    assert failures == []


async def test_gives_up_with_a_typed_error_that_names_the_service() -> None:
    tries = 0

    def handler(_: httpx.Request) -> httpx.Response:
        nonlocal tries
        tries += 1
        raise httpx.ConnectError("connection refused")

    with pytest.raises(SearchError, match=r"http://search\.test/retrieve did not answer after 3 tries: connection"):
        await client(handler, attempts=3).search(["a"], 1)
    assert tries == 3


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (httpx.Response(401, json={"error": "token"}), "refused: status 401"),
        (httpx.Response(200, text="<html>"), "not JSON"),
        (httpx.Response(200, json={"result": []}), "unknown form"),
        (httpx.Response(200, json=[1]), "unknown form"),
        (httpx.Response(200, json={"result": [[5]]}), "not an object"),
        (httpx.Response(200, json={"result": [[{"document": {"id": "1"}}]]}), "without contents"),
    ],
)
async def test_a_refusal_or_garbage_is_not_repeated(response: httpx.Response, complaint: str) -> None:
    tries = 0

    def handler(_: httpx.Request) -> httpx.Response:
        nonlocal tries
        tries += 1
        return response

    with pytest.raises(SearchError, match=complaint):
        await client(handler).search(["a"], 1)
    assert tries == 1


async def test_identical_queries_under_way_are_asked_once() -> None:
    asked: list[str] = []
    gate = asyncio.Event()

    async def handler(request: httpx.Request) -> httpx.Response:
        asked.extend(json.loads(request.content)["queries"])
        await gate.wait()
        return answer(request)

    searcher = client(handler)
    first = asyncio.create_task(searcher.search(["a", "b"], 2))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(searcher.search(["b", "c", "b"], 2))
    await asyncio.sleep(0.01)
    gate.set()
    assert [hits[0].doc.id for hits in await first] == ["a", "b"]
    assert [hits[0].doc.id for hits in await second] == ["b", "c", "b"]
    assert sorted(asked) == ["a", "b", "c"]
    await searcher.search(["a"], 2)
    assert asked.count("a") == 2, "an answer is not kept after it was given"


async def test_a_cancelled_caller_does_not_take_others_down() -> None:
    gate = asyncio.Event()

    async def handler(request: httpx.Request) -> httpx.Response:
        await gate.wait()
        return answer(request)

    searcher = client(handler)
    first = asyncio.create_task(searcher.search(["a"], 1))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(searcher.search(["a"], 1))
    await asyncio.sleep(0.01)
    first.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await second)[0][0].doc.id == "a"


async def test_one_failure_reaches_all_who_wait() -> None:
    async def handler(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.01)
        return httpx.Response(400, text="no")

    searcher = client(handler)
    results = await asyncio.gather(*(searcher.search(["a"], 1) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(result, SearchError) for result in results)


async def test_large_batches_are_split() -> None:
    sizes: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sizes.append(len(json.loads(request.content)["queries"]))
        return answer(request)

    found = await client(handler).search([str(n) for n in range(300)], 1)
    assert [hits[0].doc.id for hits in found] == [str(n) for n in range(300)]
    assert sorted(sizes) == [44, 128, 128]


def test_documents_come_wrapped_or_not_with_or_without_id() -> None:
    bare = parse_result({"result": [[{"id": 5, "contents": "T\nx"}, {"title": "U", "text": "y"}]]}, 1, 3)[0]
    assert (bare[0].doc.id, bare[0].doc.title, bare[0].score) == ("5", "T", 1.0)
    assert bare[1].score == 0.5
    again = parse_result({"result": [[{"title": "U", "text": "y"}]]}, 1, 3)[0]
    assert bare[1].doc.id == again[0].doc.id


def test_more_hits_than_asked_and_repeats_are_dropped() -> None:
    rows = [[{"id": "1", "contents": "a"}, {"id": "1", "contents": "a"}, *({"id": n, "contents": "b"} for n in (2, 3))]]
    hits = parse_result({"result": rows}, 1, 2)[0]
    assert [(hit.doc.id, hit.rank) for hit in hits] == [("1", 1), ("2", 2)]


@pytest.mark.parametrize("address", ["search.test", "ftp://search.test", ""])
def test_an_address_without_http_is_refused_at_once(address: str) -> None:
    with pytest.raises(SearchError, match="begin with http"):
        HttpSearcher(address)


async def test_an_unexpected_failure_reaches_the_caller_as_it_is() -> None:
    def broken(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b"no gzip", headers={"content-encoding": "gzip"})

    with pytest.raises(SearchError, match="can't be asked"):
        await client(broken).search(["a"], 1)

    def buggy(_: httpx.Request) -> httpx.Response:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await client(buggy).search(["a"], 1)


async def test_long_and_broken_queries_are_sent_in_a_form_that_servers_take() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.extend(json.loads(request.content)["queries"])
        return answer(request)

    found = await client(handler).search(["x" * 5000, "a\ud800b"], 9999)
    assert [len(query) for query in seen] == [2000, 3]
    assert len(found) == 2


async def test_closing_at_once_leaves_nobody_waiting() -> None:
    searcher = client(answer)
    asked = asyncio.create_task(searcher.search(["a"], 1))
    await asyncio.sleep(0)
    await searcher.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asked, timeout=5)
