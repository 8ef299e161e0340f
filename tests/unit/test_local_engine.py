"""The local engine against `transformers`: the same tokens, the same log-probabilities."""

import asyncio
import copy
import random
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
import torch
from transformers import PreTrainedModel

from ssp.engines.local import LocalEngine, LocalSettings
from ssp.errors import EngineError
from ssp.types import Completion, Sampling, StopReason
from tests.models import SHAPES, TEXTS, codec, random_model, trained_model

TINY_CACHE = LocalSettings(cache_gb=0.0006, step_tokens=37, page_tokens=4)  # small enough that requests make way
SETTINGS = {"roomy": LocalSettings(cache_gb=0.05), "cramped": TINY_CACHE}


def greedy(tokens: int = 24, stop: tuple[str, ...] = ()) -> Sampling:
    return Sampling(max_tokens=tokens, temperature=0.0, stop=stop)


def ask(engine: LocalEngine, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]:
    return asyncio.run(engine.generate(prompts, sampling))


def prompts_with_shared_prefixes(count: int = 12, seed: int = 0) -> list[list[int]]:
    rng = random.Random(seed)
    words = range(60, len(codec()))
    common = rng.choices(words, k=40)
    return [common[: rng.randrange(1, 40)] + rng.choices(words, k=rng.randrange(1, 50)) for _ in range(count)]


def generated(model: PreTrainedModel, prompt: Sequence[int], tokens: int) -> list[int]:
    """What `transformers` makes of the prompt, alone and without padding."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        ids = cast(Any, model).generate(torch.tensor([list(prompt)]), max_new_tokens=tokens, do_sample=False)
    said: list[int] = ids[0, len(prompt) :].tolist()
    return said


def plain_logprobs(model: PreTrainedModel, prompt: Sequence[int], said: Sequence[int]) -> list[float]:
    model.set_attn_implementation("eager")
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*prompt, *said]])).logits[0].float()
    logprobs = torch.log_softmax(logits, dim=-1)
    return [float(logprobs[len(prompt) - 1 + place, token]) for place, token in enumerate(said)]


def assert_same(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], got: Sequence[Completion], tokens: int
) -> None:
    for prompt, completion in zip(prompts, got, strict=True):
        assert list(completion.token_ids) == generated(model, prompt, tokens)
        expected = plain_logprobs(model, prompt, completion.token_ids)
        assert completion.logprobs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("make", [random_model, trained_model])
@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_equals_generate(shape: str, make: Callable[[str], PreTrainedModel], settings: LocalSettings) -> None:
    model = make(shape)
    prompts = prompts_with_shared_prefixes()
    engine = LocalEngine(model, codec(), settings)
    got = ask(engine, prompts, [greedy()] * len(prompts))
    assert engine.counters.computed_tokens < engine.counters.prompt_tokens, "no prefix was shared"
    assert_same(model, prompts, got, 24)


@pytest.mark.parametrize("shape", SHAPES)
def test_turns_grow_on_what_is_cached(shape: str) -> None:
    """Three turns of four trajectories, each turn with an observation, next to one another."""
    model = random_model(shape)
    engine = LocalEngine(model, codec(), LocalSettings(cache_gb=0.05, page_tokens=8))
    rng = random.Random(1)
    prompts = prompts_with_shared_prefixes(4)
    history: list[tuple[list[int], Completion]] = []

    async def trajectory(tokens: list[int], lengths: list[int]) -> None:
        for length in lengths:
            [done] = await engine.generate([tokens], [greedy(10)])
            history.append((list(tokens), done))
            tokens = [*tokens, *done.token_ids, *rng.choices(range(60, len(codec())), k=length)]

    async def play() -> None:
        await asyncio.gather(*(trajectory(prompt, [5, 30, 17]) for prompt in prompts))

    asyncio.run(play())
    assert engine.counters.computed_tokens < 0.6 * engine.counters.prompt_tokens
    assert_same(model, [prompt for prompt, _ in history], [done for _, done in history], 10)


def test_gathered_attention_equals_the_compiled_kernel() -> None:
    """The path for GPUs and half precision, run here in float32."""
    prompts = prompts_with_shared_prefixes()
    results = []
    for compiled in (True, False):
        engine = LocalEngine(random_model("llama"), codec(), LocalSettings(cache_gb=0.05))
        if not compiled:
            engine._cache.kernel = None
        results.append(ask(engine, prompts, [greedy()] * len(prompts)))
    for one, other in zip(*results, strict=True):
        assert one.token_ids == other.token_ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


def test_a_sample_depends_on_its_seed_and_not_on_its_neighbours() -> None:
    prompts = prompts_with_shared_prefixes()
    sampling = [Sampling(max_tokens=20, seed=number) for number in range(len(prompts))]
    engine = LocalEngine(random_model("llama"), codec(), LocalSettings(cache_gb=0.05))
    together = ask(engine, prompts, sampling)
    alone = [
        ask(LocalEngine(random_model("llama"), codec(), TINY_CACHE), [prompt], [how])[0]
        for prompt, how in zip(prompts, sampling, strict=True)
    ]
    assert [done.token_ids for done in together] == [done.token_ids for done in alone]
    again = ask(engine, [prompts[0]] * 2, [Sampling(max_tokens=20, seed=s) for s in (0, 1)])
    assert again[0].token_ids == together[0].token_ids != again[1].token_ids


def test_samples_follow_the_model() -> None:
    """4,000 first tokens against the exact distribution: total variation within what chance gives."""
    model = random_model("llama")
    prompt = list(codec().encode("Where was the mayor"))
    for temperature, top_p in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.6)):
        count = 4000
        engine = LocalEngine(model, codec(), LocalSettings(cache_gb=0.05))
        sampling = [Sampling(1, seed, temperature, top_p) for seed in range(count)]
        done = ask(engine, [prompt] * count, sampling)
        model.set_attn_implementation("eager")
        with torch.no_grad():
            scaled = model(input_ids=torch.tensor([prompt])).logits[0, -1].float() / temperature
        exact = torch.softmax(scaled, dim=-1)
        for one in done[:50]:
            assert one.logprobs[0] == pytest.approx(float(exact[one.token_ids[0]].log()), abs=1e-4)
        ordered, order = exact.sort(descending=True)
        keep = ordered.cumsum(0) - ordered < top_p
        nucleus = torch.zeros_like(exact)
        nucleus[order[keep]] = ordered[keep] / ordered[keep].sum()
        seen = torch.bincount(torch.tensor([one.token_ids[0] for one in done]), minlength=len(exact)) / count
        assert set(seen.nonzero()[:, 0].tolist()) <= set(nucleus.nonzero()[:, 0].tolist())
        noise = float((nucleus * (1 - nucleus) / count).sqrt().sum()) / 2  # expected distance, roughly
        assert float((seen - nucleus).abs().sum()) / 2 < 1.5 * noise


def test_stop_strings_and_ends() -> None:
    model = random_model("llama")
    prompt = list(codec().encode("Where was the mayor"))
    whole = ask(LocalEngine(model, codec(), SETTINGS["roomy"]), [prompt], [greedy(40)])[0]
    text = codec().decode(whole.token_ids)
    stop = text[7:10]
    done = ask(LocalEngine(model, codec(), SETTINGS["roomy"]), [prompt], [greedy(40, (stop,))])[0]
    assert done.reason is StopReason.STOP
    assert done.token_ids == whole.token_ids[: len(done.token_ids)]
    assert stop in done.text
    assert stop not in codec().decode(done.token_ids[:-1])
    assert whole.reason in (StopReason.LENGTH, StopReason.END)


def test_requests_that_can_never_fit_are_refused() -> None:
    engine = LocalEngine(random_model("llama"), codec(), LocalSettings(cache_gb=0.0001, page_tokens=4))
    with pytest.raises(EngineError, match=r"raise engine\.cache_gb"):
        ask(engine, [[70] * 500], [greedy(10)])
    with pytest.raises(EngineError, match="more than the model's 512"):
        ask(engine, [[70] * 510], [greedy(10)])
    with pytest.raises(EngineError, match="at least one token"):
        ask(engine, [[]], [greedy(10)])
    with pytest.raises(EngineError, match="holds no two pages"):
        LocalEngine(random_model("llama"), codec(), LocalSettings(cache_gb=1e-7))
    assert ask(engine, [[70] * 20], [greedy(3)])[0].token_ids, "a refusal must not harm later requests"


def test_memory_pressure_makes_requests_wait_not_fail() -> None:
    engine = LocalEngine(random_model("gpt-neox"), codec(), TINY_CACHE)
    prompts = prompts_with_shared_prefixes(20)
    done = ask(engine, prompts, [greedy(30)] * 20)
    assert engine.counters.preempted > 0, "the test wants a cache that is too small"
    assert len(done) == 20


def test_new_weights_are_used_and_the_cache_is_forgotten() -> None:
    engine = LocalEngine(random_model("llama"), codec(), SETTINGS["roomy"])
    prompt = list(codec().encode("Where was the mayor of Oakmere born? In Dunford"))
    other = random_model("llama", seed=5)

    async def play() -> tuple[Completion, Completion]:
        [before] = await engine.generate([prompt], [greedy()])
        await engine.load(other.state_dict(), version=3)
        [after] = await engine.generate([prompt], [greedy()])
        return before, after

    before, after = asyncio.run(play())
    assert (before.policy_version, after.policy_version) == (0, 3)
    assert before.token_ids != after.token_ids
    assert_same(other, [prompt], [after], 24)


def test_a_failing_model_is_an_outage_for_those_who_wait_and_not_after() -> None:
    model = random_model("llama")
    engine = LocalEngine(model, codec(), SETTINGS["roomy"])
    forward, calls = model.forward, [0]

    def broken(*args: object, **kwargs: object) -> object:
        calls[0] += 1
        if calls[0] == 3:
            raise RuntimeError("out of memory")
        return forward(*args, **kwargs)

    cast(Any, model).forward = broken
    with pytest.raises(EngineError, match="out of memory"):
        ask(engine, prompts_with_shared_prefixes(3), [greedy()] * 3)
    prompts = prompts_with_shared_prefixes(3)
    assert_same(model, prompts, ask(engine, prompts, [greedy()] * 3), 24)


def test_cancelled_requests_give_their_pages_back() -> None:
    engine = LocalEngine(random_model("llama"), codec(), SETTINGS["roomy"])
    free = engine._pool.available

    async def play() -> None:
        task = asyncio.create_task(engine.generate([[70] * 30], [greedy(200)]))
        for _ in range(30):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await engine.generate([[71] * 5], [greedy(2)])

    asyncio.run(play())
    assert engine._pool.available == free


def test_one_token_at_a_time_is_spread_over_steps() -> None:
    """A prompt longer than a step is computed in pieces; others go on meanwhile."""
    engine = LocalEngine(random_model("llama"), codec(), LocalSettings(cache_gb=0.05, step_tokens=16))
    prompts = [[70] * 3, [71] * 100]
    done = ask(engine, prompts, [greedy(8)] * 2)
    assert_same(random_model("llama"), prompts, done, 8)


@pytest.mark.parametrize("shape", ["llama", "qwen2"])
def test_products_in_half_precision_change_little_and_follow_new_weights(shape: str) -> None:
    """Logits, attention and its cache stay as they are: only what is multiplied is rounded."""
    model = trained_model(shape)
    engine = LocalEngine(copy.deepcopy(model), codec(), LocalSettings(cache_gb=0.05, products=torch.bfloat16))
    prompts = [list(codec().encode(text)[:6]) for text in TEXTS[:4]]
    other = random_model(shape, seed=1)
    for weights in (model, other):
        asyncio.run(engine.load(weights.state_dict(), 1))
        differences = [
            abs(got - wanted)
            for prompt, done in zip(prompts, ask(engine, prompts, [greedy(8)] * len(prompts)), strict=True)
            for got, wanted in zip(done.logprobs, plain_logprobs(weights, prompt, done.token_ids), strict=True)
        ]
        assert 1e-5 < sum(differences) / len(differences) < 0.05
