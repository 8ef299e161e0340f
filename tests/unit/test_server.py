"""The server's answers and refusals, in process; tests/e2e drives it as a process."""

from pathlib import Path

import httpx
import pytest

from ssp.search.http import HttpSearcher
from ssp.search.server import make_app
from ssp.search.static import FailingSearcher, StaticSearcher
from ssp.types import Doc

DOCS = [Doc("d1", "Oakmere", "A town."), Doc("d2", "Dunford", "Another.")]


def client(token: str | None = None, **options: object) -> httpx.AsyncClient:
    app = make_app(StaticSearcher({"q": DOCS}), documents=2, token=token)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


async def test_with_and_without_scores() -> None:
    async with client() as http:
        scored = (await http.post("/retrieve", json={"queries": ["q"], "topk": 1, "return_scores": True})).json()
        assert scored == {"result": [[{"document": {"id": "d1", "contents": '"Oakmere"\nA town.'}, "score": 1.0}]]}
        bare = (await http.post("/retrieve", json={"queries": ["q", "none"]})).json()
        assert bare["result"][1] == []
        assert bare["result"][0] == [{"id": doc.id, "contents": doc.contents} for doc in DOCS]
        assert (await http.get("/healthz")).json() == {"status": "ok", "documents": 2}


@pytest.mark.parametrize(
    ("body", "status", "complaint"),
    [
        (b"nonsense", 400, "not valid JSON"),
        (b"[]", 422, "body"),
        (b"{}", 422, "queries: Field required"),
        (b'{"queries": "q"}', 422, "queries"),
        (b'{"queries": [5]}', 422, "queries.0"),
        (b'{"queries": ["q"], "topk": 0}', 422, "topk"),
        (b'{"queries": ["q"], "topk": 100000}', 422, "topk"),
        (b'{"queries": ["q"], "topk": "3"}', 422, "topk"),
        (b'{"queries": [' + b",".join([b'"q"'] * 4097) + b"]}", 422, "queries"),
        (b'{"queries": ["' + b"x" * 34_000_000 + b'"]}', 413, "longer than"),
    ],
)
async def test_mistakes_get_a_clear_line(body: bytes, status: int, complaint: str) -> None:
    async with client() as http:
        response = await http.post("/retrieve", content=body, headers={"content-type": "application/json"})
    assert response.status_code == status
    assert complaint in response.json()["error"]


async def test_a_body_without_length_is_cut_off_too() -> None:
    async def endless() -> object:
        for _ in range(600):
            yield b" " * 65536

    async with client() as http:
        assert (await http.post("/retrieve", content=endless())).status_code == 413  # type: ignore[arg-type]


async def test_what_published_clients_send_is_taken() -> None:
    """No query at all, many at once, a very long one: their rollouts send all of these."""
    async with client() as http:
        assert (await http.post("/retrieve", json={"queries": []})).json() == {"result": []}
        many = await http.post("/retrieve", json={"queries": ["q"] * 2000, "topk": 1})
        assert len(many.json()["result"]) == 2000
        long = await http.post("/retrieve", json={"queries": ["q", "x" * 50_000], "topk": 1})
        assert [len(row) for row in long.json()["result"]] == [1, 0]


async def test_other_paths_methods_and_types() -> None:
    async with client() as http:
        assert (await http.get("/retrieve")).status_code == 405
        assert (await http.get("/nowhere")).json() == {"error": "Not Found"}
        response = await http.post("/retrieve", content=b"queries=q", headers={"content-type": "text/csv"})
        assert response.status_code == 415


async def test_the_token_is_needed_where_one_is_set() -> None:
    async with client(token="s3cret") as http:
        body = {"queries": ["q"]}
        assert (await http.post("/retrieve", json=body)).status_code == 401
        wrong = await http.post("/retrieve", json=body, headers={"Authorization": "Bearer s3cre"})
        assert wrong.status_code == 401
        assert wrong.headers["www-authenticate"] == "Bearer"
        for scheme in ("Bearer", "bearer"):
            right = await http.post("/retrieve", json=body, headers={"Authorization": f"{scheme} s3cret"})
            assert right.status_code == 200
        assert (await http.get("/healthz")).status_code == 200


async def test_an_outage_behind_the_server_is_a_503() -> None:
    app = make_app(FailingSearcher("the index is gone"), documents=0)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
        response = await http.post("/retrieve", json={"queries": ["q"]})
    assert (response.status_code, response.json()) == (503, {"error": "the index is gone"})


async def test_our_client_and_our_server_agree(tmp_path: Path) -> None:
    app = make_app(StaticSearcher({"q": DOCS}), documents=2)
    searcher = HttpSearcher("http://test", transport=httpx.ASGITransport(app))
    assert [hit.doc for hit in (await searcher.search(["q"], 2))[0]] == DOCS
    await searcher.close()
