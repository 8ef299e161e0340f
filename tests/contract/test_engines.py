"""What every engine promises, whatever samples behind it."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from ssp.engines.local import LocalEngine, LocalSettings
from ssp.engines.scripted import ScriptedEngine
from ssp.protocols import Engine
from ssp.types import Completion, Sampling, StopReason
from tests.models import TEXTS, codec, random_model, trained_model

TALK = "Where was the mayor of Oakmere born? In Dunford, in the year 1843."


def local() -> Engine:
    return LocalEngine(trained_model("llama", steps=150), codec(), LocalSettings(cache_gb=0.05))


def scripted() -> Engine:
    """Continues one of the texts, as the trained model does."""

    def reply(text: str) -> str:
        known = next((whole for whole in TEXTS if whole.startswith(text.strip())), TALK)
        return known[len(text.strip()) :] if known.startswith(text.strip()) else known

    return ScriptedEngine(codec(), reply)


IMPLEMENTATIONS: dict[str, Callable[[], Engine]] = {"local": local, "scripted": scripted}


@pytest.fixture(params=IMPLEMENTATIONS, scope="module")
def engine(request: pytest.FixtureRequest) -> Engine:
    return IMPLEMENTATIONS[request.param]()


def ask(engine: Engine, texts: Sequence[str], sampling: Sequence[Sampling]) -> list[Completion]:
    return asyncio.run(engine.generate([codec().encode(text) for text in texts], sampling))


def greedy(tokens: int, *stop: str) -> Sampling:
    return Sampling(max_tokens=tokens, temperature=0.0, stop=stop)


def test_one_completion_for_each_prompt_in_order(engine: Engine) -> None:
    starts = ["Where was the mayor", "The mother of Mira", "Where was the mayor of"]
    together = ask(engine, starts, [greedy(6)] * 3)
    alone = [ask(engine, [start], [greedy(6)])[0] for start in starts]
    assert [done.text for done in together] == [done.text for done in alone]
    assert ask(engine, [], []) == []


def test_tokens_logprobs_and_text_belong_together(engine: Engine) -> None:
    [done] = ask(engine, ["Where was the mayor"], [greedy(8)])
    assert len(done.token_ids) == len(done.logprobs) <= 8
    assert all(value <= 0.0 for value in done.logprobs)
    assert codec().decode(done.token_ids) == done.text


def test_lengths_are_kept(engine: Engine) -> None:
    [done] = ask(engine, ["Where was the mayor"], [greedy(2)])
    assert (len(done.token_ids), done.reason) == (2, StopReason.LENGTH)


def test_generation_stops_at_the_first_stop_string(engine: Engine) -> None:
    [done] = ask(engine, ["Where was the mayor"], [greedy(40, "never", "born?")])
    assert done.reason is StopReason.STOP
    assert done.text.rstrip().endswith("born?")


def test_the_same_seed_gives_the_same_sample(engine: Engine) -> None:
    how = [Sampling(max_tokens=12, seed=5)]
    assert ask(engine, ["The mother"], how) == ask(engine, ["The mother"], how)


def test_prompts_and_sampling_must_agree_in_number(engine: Engine) -> None:
    with pytest.raises(ValueError, match="zip"):
        ask(engine, ["Where was"], [])


@pytest.mark.parametrize("make", IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS)
def test_completions_carry_the_version_of_the_weights(make: Callable[[], Engine]) -> None:
    fresh = make()

    async def play() -> list[int]:
        prompt = [codec().encode("Where was the mayor")]
        [before] = await fresh.generate(prompt, [greedy(2)])
        await fresh.load(random_model("llama").state_dict(), version=7)
        [after] = await fresh.generate(prompt, [greedy(2)])
        await fresh.close()
        return [before.policy_version, after.policy_version, fresh.policy_version]

    assert asyncio.run(play()) == [0, 7, 7]
