"""`ssp serve` as a process: published clients, schemathesis, a crowd for a minute, and a clean stop."""

import asyncio
import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis

from ssp.search.corpus import read_corpus
from ssp.search.http import HttpSearcher
from ssp.search.index import build_index, open_index
from ssp.search.server import make_app
from ssp.search.static import StaticSearcher
from tests.e2e.conftest import command

CLIENTS = 64
CROWD_SECONDS = 60.0


class Server:
    """A running `ssp serve`."""

    def __init__(self, index: Path, *flags: str, env: dict[str, str] | None = None) -> None:
        arguments = [*command(), "serve", str(index), "--port", "0", *flags]
        self.process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://[\d.]+:\d+", line)
        assert found is not None, line
        self.url = found.group()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> str:
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=60)
        return said


@pytest.fixture(scope="module")
def index(world_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("served") / "index"
    build_index(read_corpus([world_folder / "corpus.jsonl"]), out)
    return out


@pytest.fixture(scope="module")
def server(index: Path) -> Iterator[Server]:
    running = Server(index)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def titles(world_folder: Path) -> list[str]:
    return [doc.title for doc in read_corpus([world_folder / "corpus.jsonl"])]


def published_client(url: str, queries: list[str], topk: int) -> list[str]:
    """As Search-R1's rollout asks and reads: a POST with scores, contents split into title and text."""
    body = json.dumps({"queries": queries, "topk": topk, "return_scores": True}).encode()
    request = urllib.request.Request(f"{url}/retrieve", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        results = json.load(response)["result"]
    texts = []
    for result in results:
        reference = ""
        for number, item in enumerate(result):
            content = item["document"]["contents"]
            title, text = content.split("\n")[0], "\n".join(content.split("\n")[1:])
            reference += f"Doc {number + 1}(Title: {title}) {text}\n"
            assert isinstance(item["score"], float)
        texts.append(reference)
    return texts


def test_a_published_client_is_understood(server: Server, index: Path, titles: list[str]) -> None:
    texts = published_client(server.url, titles[:5], 3)
    local = open_index(index).search_now(titles[:5], 3)
    for text, hits in zip(texts, local, strict=True):
        assert text.startswith(f'Doc 1(Title: "{hits[0].doc.title}") {hits[0].doc.text}')


async def test_remote_search_equals_local_search(server: Server, index: Path, titles: list[str]) -> None:
    remote = HttpSearcher(server.url)
    assert await remote.search(titles[:500], 5) == open_index(index).search_now(titles[:500], 5)
    await remote.close()


def test_health(server: Server) -> None:
    assert httpx.get(f"{server.url}/healthz").json() == {"status": "ok", "documents": 2000}


async def test_a_crowd_for_a_minute_without_an_error(server: Server, titles: list[str]) -> None:
    """64 clients, each waiting for its answer before asking again; every answer is checked."""
    deadline = time.monotonic() + CROWD_SECONDS
    limits = httpx.Limits(max_connections=CLIENTS)

    async def ask(http: httpx.AsyncClient, number: int) -> int:
        asked = 0
        while time.monotonic() < deadline:
            queries = [titles[(number * 31 + asked * 7 + n) % len(titles)] for n in range(1 + asked % 3)]
            response = await http.post("/retrieve", json={"queries": queries, "topk": 3})
            assert response.status_code == 200
            found = response.json()["result"]
            assert all(any(f'"{q}"\n' in doc["contents"] for doc in row) for q, row in zip(queries, found, strict=True))
            asked += 1
        return asked

    async with httpx.AsyncClient(base_url=server.url, timeout=30, limits=limits) as http:
        counts = await asyncio.gather(*(ask(http, number) for number in range(CLIENTS)))
    assert min(counts) > 20, "every client was served"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_requests_under_way_are_answered_before_it_stops(
    index: Path, titles: list[str], how: signal.Signals
) -> None:
    server = Server(index)
    body = {"queries": (titles * 3)[:256], "topk": 200, "return_scores": True}
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        await asyncio.gather(*(http.get("/healthz") for _ in range(8)))  # eight connections stand
        asked = [asyncio.create_task(http.post("/retrieve", json=body)) for _ in range(8)]
        await asyncio.sleep(0.2)
        assert not all(task.done() for task in asked), "some requests are still under way"
        server.process.send_signal(how)
        answers = [(await task).json()["result"] for task in asked]
    assert [len(answer) for answer in answers] == [256] * 8
    _, said = server.process.communicate(timeout=60)
    assert server.process.returncode == 0
    assert said.splitlines()[-1] == "stopped"


def test_the_token_comes_from_the_named_variable(index: Path) -> None:
    server = Server(index, "--token-env", "SEARCH_TOKEN", env={"SEARCH_TOKEN": "abc"})
    body = {"queries": ["x"]}
    assert httpx.post(f"{server.url}/retrieve", json=body).status_code == 401
    headers = {"Authorization": "Bearer abc"}
    assert httpx.post(f"{server.url}/retrieve", json=body, headers=headers).status_code == 200
    server.stop()


def test_a_port_in_use_or_a_missing_token_is_one_line(server: Server, index: Path) -> None:
    port = server.url.rpartition(":")[2]
    for flags, complaint in (
        (["--port", port], "choose another --port or --host"),
        (["--token-env", "NOPE_X"], "NOPE_X"),
    ):
        done = subprocess.run([*command(), "serve", str(index), *flags], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert complaint in done.stderr
        assert done.stderr.count("\n") == 1


def _described_app() -> Any:
    return make_app(StaticSearcher({}), documents=0)


schema = schemathesis.openapi.from_asgi("/openapi.json", _described_app())


@schema.parametrize()
def test_the_service_is_as_its_description_says(case: Any) -> None:
    case.call_and_validate()
