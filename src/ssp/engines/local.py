"""The local engine: samples from any `transformers` causal language model in this process.

- Continuous batching: a step computes the next token of every running request, and the prompts of new ones, in one
  row without padding. Who is finished, or searching, holds nobody up.
- The key-value cache is paged and shared by content (`pages`): over the turns of a trajectory, and between requests
  that begin alike, nothing is computed twice.
- Logits are computed only for the tokens that are sampled from.
- Everything runs in the caller's event loop. Nothing depends on the clock: the same requests give the same steps.

A sample depends on its request's seed and not on its neighbours, up to rounding: matrix products of another height
may round differently in the last bits, which changes a sample only where two tokens are as good as tied.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from transformers import AttentionInterface, PreTrainedModel

from ssp.engines.attention import NAME, KvCache, Plan, Stretch, paged_attention
from ssp.engines.codec import HfCodec
from ssp.engines.pages import PagePool
from ssp.engines.products import halve_products
from ssp.engines.sampler import choose
from ssp.engines.stops import StopFinder
from ssp.errors import EngineError
from ssp.types import Completion, Sampling, StopReason

AttentionInterface.register(NAME, paged_attention)
_ROUNDS = 4  # turns of the event loop after a step: enough for an agent to read, search in this process and ask again


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """`cache_gb` bounds the key-value cache; `step_tokens` bounds the tokens (so the activations) of one step.

    With `products` linear layers multiply with these numbers (`ssp.engines.products`).
    """

    cache_gb: float = 2.0
    step_tokens: int = 4096
    page_tokens: int = 16
    products: torch.dtype | None = None


@dataclass(slots=True, eq=False)
class _Request:
    """A request under way. `computed` tokens have their keys and values in `pages`; `shared` pages are offered."""

    tokens: list[int]
    prompt: int
    sampling: Sampling
    uniforms: np.ndarray[tuple[int], np.dtype[np.float64]]
    future: "asyncio.Future[Completion]"
    pages: list[int] = field(default_factory=list)
    computed: int = 0
    shared: int = 0
    logprobs: list[float] = field(default_factory=list)

    @property
    def sampled(self) -> int:
        return len(self.tokens) - self.prompt


@dataclass(slots=True)
class Counters:
    """What the engine did, for benches and metrics."""

    steps: int = 0
    prompt_tokens: int = 0  # asked for
    computed_tokens: int = 0  # prompt tokens that really had to be computed
    sampled_tokens: int = 0
    preempted: int = 0


class LocalEngine:
    """An engine over a model in this process; `settings` bound its memory."""

    def __init__(self, model: PreTrainedModel, codec: HfCodec, settings: LocalSettings | None = None) -> None:
        self._model = model
        model.eval()
        self._model.set_attn_implementation(NAME)
        self._settings = settings or LocalSettings()
        self._codec = codec
        self._ends = codec.end_ids
        self._finder = StopFinder(codec)
        config = model.config.get_text_config()
        size = self._settings.page_tokens
        page_bytes = KvCache.bytes_per_token(config, model.dtype) * size
        pages = int(self._settings.cache_gb * 2**30) // page_bytes
        if pages < 2:
            raise EngineError(
                f"engine.cache_gb={self._settings.cache_gb} holds no two pages; one needs {page_bytes} bytes"
            )
        self._pool = PagePool(pages, size)
        self._cache = KvCache(config, pages, size, model.dtype, model.device)
        if self._settings.products is not None:
            halve_products(model, self._settings.products)
        self._longest = int(getattr(config, "max_position_embeddings", 0) or 2**31)
        self._waiting: deque[_Request] = deque()
        self._running: list[_Request] = []
        self._task: asyncio.Task[None] | None = None
        self.counters = Counters()
        self.policy_version = 0

    async def generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]:
        requests = [self._request(prompt, how) for prompt, how in zip(prompts, sampling, strict=True)]
        self._waiting.extend(requests)
        if requests and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._work())
            self._task.add_done_callback(_heard)
        try:
            return [await request.future for request in requests]
        finally:
            for request in requests:
                request.future.cancel()

    async def load(self, weights: Mapping[str, torch.Tensor], version: int) -> None:
        """Take new weights, once all requests under way are finished."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
        with torch.no_grad():
            try:
                self._model.load_state_dict(dict(weights), strict=False)
            except RuntimeError as error:
                raise EngineError(f"these weights do not fit the model: {str(error).splitlines()[0]}") from None
        self._pool.forget_all()
        self.policy_version = version

    async def close(self) -> None:
        for request in [*self._running, *self._waiting]:
            request.future.cancel()
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def _request(self, prompt: Sequence[int], sampling: Sampling) -> _Request:
        if not prompt:
            raise EngineError("a prompt needs at least one token")
        most = len(prompt) + sampling.max_tokens
        if most > self._longest:
            raise EngineError(f"{most} tokens (prompt and max_tokens) are more than the model's {self._longest}")
        if -(-most // self._pool.size) > self._pool.pages:
            held = self._pool.pages * self._pool.size
            raise EngineError(f"{most} tokens do not fit the cache of {held} tokens: raise engine.cache_gb")
        uniforms = np.random.Generator(np.random.Philox(key=sampling.seed)).random(sampling.max_tokens)
        future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self.counters.prompt_tokens += len(prompt)
        return _Request(list(prompt), len(prompt), sampling, uniforms, future)

    async def _work(self) -> None:
        """Step until there is nothing to do."""
        while self._waiting or self._running:
            try:
                self._step()
            except Exception as error:  # noqa: BLE001  whatever the model raises is an outage for all who wait
                self._fail(error)
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)

    def _fail(self, error: Exception) -> None:
        for request in [*self._running, *self._waiting]:
            if not request.future.done():
                request.future.set_exception(EngineError(f"{type(error).__name__}: {str(error).splitlines()[0]}"))
            self._pool.release(request.pages)
        self._running.clear()
        self._waiting.clear()
        self._pool.forget_all()

    def _step(self) -> None:
        self._drop_cancelled()
        batch = self._schedule()
        if not batch:
            return
        logits = self._forward(batch)
        ready = [request for request, count in batch if request.computed + count == len(request.tokens)]
        for request, count in batch:
            request.computed += count
        if ready:
            uniforms = [float(request.uniforms[request.sampled]) for request in ready]
            self._append(ready, *choose(logits, [request.sampling for request in ready], uniforms))
        self.counters.steps += 1

    def _drop_cancelled(self) -> None:
        for request in [one for one in self._running if one.future.done()]:
            self._running.remove(request)
            self._pool.release(request.pages)
        self._waiting = deque(one for one in self._waiting if not one.future.done())

    def _schedule(self) -> list[tuple[_Request, int]]:
        """Who takes part in the next step, with how many tokens; single tokens come first."""
        room = self._settings.step_tokens
        batch: list[tuple[_Request, int]] = []
        number = 0
        while number < len(self._running) and room > 0:  # the list shrinks from its end when memory runs out
            request = self._running[number]
            count = min(room, len(request.tokens) - request.computed)
            if self._reserve(request, count):
                batch.append((request, count))
                room -= count
            number += 1
        while self._waiting and room > 0:
            count = self._admit(self._waiting[0], room)
            if not count:
                break
            self._running.append(self._waiting.popleft())
            batch.append((self._running[-1], count))
            room -= count
        return sorted(batch, key=lambda entry: entry[1] > 1)

    def _reserve(self, request: _Request, count: int) -> bool:
        """Pages for the next tokens of a running request. The youngest requests make way, in the end it itself."""
        while not self._extend(request, count):
            youngest = self._running.pop()
            self._pool.release(youngest.pages)
            youngest.pages, youngest.computed, youngest.shared = [], 0, 0
            self._waiting.appendleft(youngest)
            self.counters.preempted += 1
            if youngest is request:
                return False
        return True

    def _admit(self, request: _Request, room: int) -> int:
        """Take what is cached already, and pages for as much of the rest as there is room for; 0 if none."""
        request.pages = self._pool.match(request.tokens)
        request.shared = len(request.pages)
        request.computed = request.shared * self._pool.size
        count = min(room, len(request.tokens) - request.computed)
        # leave a page to each who is running, so that they need not make way again at once
        spare = self._pool.available - self._pages_for(request, count)
        if spare < len(self._running) or not self._extend(request, count):
            self._pool.release(request.pages)
            request.pages, request.computed, request.shared = [], 0, 0
            return 0
        if request.sampled == 0:
            self.counters.computed_tokens += len(request.tokens) - request.computed
        return count

    def _pages_for(self, request: _Request, count: int) -> int:
        return -(-(request.computed + count) // self._pool.size) - len(request.pages)

    def _extend(self, request: _Request, count: int) -> bool:
        """Pages for the next tokens, at once on offer to others: they will be written before anyone reads them."""
        wanted = self._pages_for(request, count)
        if wanted > self._pool.available:
            return False
        for _ in range(wanted):
            page = self._pool.allocate()
            assert page is not None
            request.pages.append(page)
        filled = (request.computed + count) // self._pool.size
        if filled > request.shared:
            self._pool.share(request.pages, request.tokens[: filled * self._pool.size], request.shared)
            request.shared = filled
        return True

    @torch.inference_mode()
    def _forward(self, batch: Sequence[tuple[_Request, int]]) -> torch.Tensor:
        """Logits of the last token of each request that is then complete."""
        device = self._model.device
        tokens: list[int] = []
        positions: list[int] = []
        wanted: list[int] = []
        stretches: list[Stretch] = []
        singles = [request for request, count in batch if count == 1]
        slots: list[int] = []
        size = self._pool.size
        for request, count in batch:
            begin, end = request.computed, request.computed + count
            if count > 1:
                pages = torch.tensor(request.pages, device=device)
                stretches.append(Stretch(len(tokens), len(tokens) + count, end, pages))
            tokens += request.tokens[begin:end]
            positions += range(begin, end)
            slots += [request.pages[place // size] * size + place % size for place in range(begin, end)]
            if end == len(request.tokens):
                wanted.append(len(tokens) - 1)
        tables = np.zeros((len(singles), max((len(one.pages) for one in singles), default=0)), np.int64)
        for row, request in enumerate(singles):
            tables[row, : len(request.pages)] = request.pages
        lengths = np.array([request.computed + 1 for request in singles], np.int64)
        plan = Plan(self._cache, torch.tensor(slots, device=device), lengths, tables, tuple(stretches))
        output = self._model(
            input_ids=torch.tensor([tokens], device=device),
            position_ids=torch.tensor([positions], device=device),
            use_cache=False,
            logits_to_keep=torch.tensor(wanted, dtype=torch.long, device=device),
            plan=plan,
        )
        logits: torch.Tensor = output.logits[0]
        return logits

    def _append(self, ready: Sequence[_Request], tokens: Sequence[int], logprobs: Sequence[float]) -> None:
        finished = set()
        for request, token, logprob in zip(ready, tokens, logprobs, strict=True):
            request.tokens.append(token)
            request.logprobs.append(logprob)
            reason = self._reason(request, token)
            if reason is not None:
                finished.add(id(request))
                self._finish(request, reason)
        self.counters.sampled_tokens += len(ready)
        if finished:
            self._running = [request for request in self._running if id(request) not in finished]

    def _reason(self, request: _Request, token: int) -> StopReason | None:
        if token in self._ends:
            return StopReason.END
        if self._finder.found(request.tokens[request.prompt :], request.sampling.stop):
            return StopReason.STOP
        return StopReason.LENGTH if request.sampled == request.sampling.max_tokens else None

    def _finish(self, request: _Request, reason: StopReason) -> None:
        self._pool.release(request.pages)
        if request.future.done():
            return
        ids = tuple(request.tokens[request.prompt :])
        text = self._codec.decode(ids)
        request.future.set_result(Completion(ids, tuple(request.logprobs), text, reason, self.policy_version))


def _heard(task: "asyncio.Task[None]") -> None:
    """What ends the work from outside, as a kill does, is told once, by whoever is killed."""
    if not task.cancelled():
        task.exception()
