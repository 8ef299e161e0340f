"""vLLM as engine, without a server: this process talks to vLLM's own engine process.

Token ids go in and come out; log-probabilities are those of the distribution that was sampled from. New weights are
written to disk and reloaded in place (`reload_weights`), once all requests under way are finished.
"""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from ssp.engines.codec import HfCodec
from ssp.engines.weights import Exchange
from ssp.errors import EngineError
from ssp.extras import import_extra
from ssp.types import Completion, Sampling, StopReason

if TYPE_CHECKING:
    import torch

_SEEDS = 2**63  # vLLM's are signed


class VllmEngine:
    """An engine over vLLM's asynchronous one, which gets its weights from `exchange`; `arguments` are vLLM's own."""

    def __init__(self, exchange: Exchange, codec: HfCodec, arguments: Mapping[str, Any]) -> None:
        vllm = import_extra("vllm", extra="vllm", feature="engine.kind=vllm")
        self._codec = codec
        self._vllm = vllm
        self._exchange = exchange
        self._numbers = count()
        self._under_way: set[asyncio.Task[Completion]] = set()
        self.policy_version = 0
        args = vllm.AsyncEngineArgs(
            model=str(exchange.start), enable_log_requests=False, disable_log_stats=True, **arguments
        )
        self._engine = _start(lambda: vllm.AsyncLLMEngine.from_engine_args(args))

    async def generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]:
        pairs = list(zip(prompts, sampling, strict=True))
        tasks = [asyncio.create_task(self._one(list(prompt), how)) for prompt, how in pairs]
        self._under_way.update(tasks)
        for task in tasks:
            task.add_done_callback(self._under_way.discard)
        try:
            return [await task for task in tasks]
        finally:
            for task in tasks:
                task.cancel()

    async def _one(self, prompt: list[int], sampling: Sampling) -> Completion:
        if not prompt:
            raise EngineError("a prompt needs at least one token")
        wanted = self._vllm.SamplingParams(
            **sampling_arguments(sampling),
            logprobs=0,
            output_kind=self._vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
        )
        version, last = self.policy_version, None
        try:
            async for output in self._engine.generate(
                {"prompt_token_ids": prompt}, wanted, request_id=f"ssp-{next(self._numbers)}"
            ):
                last = output
        except (ValueError, self._vllm.v1.engine.exceptions.EngineDeadError) as error:
            raise EngineError(f"vLLM: {str(error).splitlines()[0]}") from None
        if last is None:
            raise EngineError("vLLM gave no answer")
        [done] = last.outputs
        ids = tuple(done.token_ids)
        logprobs = [entry[token].logprob for token, entry in zip(ids, done.logprobs, strict=True)]
        return completion(ids, logprobs, done.finish_reason, done.stop_reason, self._codec, version)

    async def load(self, weights: "Mapping[str, torch.Tensor]", version: int) -> None:
        while self._under_way:
            await asyncio.wait(self._under_way)
        place = self._exchange.write(weights, version)
        try:
            await self._engine.collective_rpc("reload_weights", kwargs={"weights_path": str(place)})
            await self._engine.reset_prefix_cache()
        except Exception as error:  # noqa: BLE001  whatever a worker raises comes as it is
            raise EngineError(f"vLLM can't take the new weights: {str(error).splitlines()[0]}") from None
        self._exchange.forget_older()
        self.policy_version = version

    async def close(self) -> None:
        for task in list(self._under_way):
            task.cancel()
        self._engine.shutdown()
        self._exchange.remove()


def _start(make: Any) -> Any:
    try:
        return make()
    except (ValueError, RuntimeError) as error:
        raise EngineError(f"vLLM does not start: {str(error).splitlines()[0]}") from None


def sampling_arguments(sampling: Sampling) -> dict[str, Any]:
    """What vLLM is asked for, in its own words; the same for a server."""
    if sampling.top_p < 1.0:
        raise EngineError("vLLM reports other log-probabilities with top_p than without: leave it at 1")
    return {
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "seed": sampling.seed % _SEEDS,
        "stop": list(sampling.stop),
        "include_stop_str_in_output": True,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
    }


def completion(
    ids: tuple[int, ...],
    logprobs: Sequence[float],
    finish_reason: str | None,
    stop_reason: int | str | None,
    codec: HfCodec,
    version: int,
) -> Completion:
    """An answer of vLLM in our terms."""
    if not ids or finish_reason not in ("stop", "length"):
        raise EngineError(f"vLLM broke off ({finish_reason})")
    reason = StopReason.LENGTH if finish_reason == "length" else StopReason.END
    if isinstance(stop_reason, str):
        reason = StopReason.STOP
    return Completion(ids, tuple(min(value, 0.0) for value in logprobs), codec.decode(ids), reason, version)
