"""Servers of vLLM as one engine: requests go to whoever has the least to do.

A server that fails gets nothing more until it is back, and what it was asked goes to the others. Weights are written
to a folder that all servers see and reloaded by vLLM itself; a server that comes back gets the newest first.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ssp.engines.codec import HfCodec
from ssp.engines.vllm import completion, sampling_arguments
from ssp.engines.vllm_process import VllmProcess
from ssp.engines.weights import Exchange
from ssp.errors import EngineError, EngineGone
from ssp.service import Options, Service
from ssp.types import Completion, Sampling

if TYPE_CHECKING:
    import torch

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0  # seconds between tries to reach a server that was lost


@dataclass(slots=True, eq=False)
class _Replica:
    """One server: how many tokens it has to do for us, which weights it has, and whether it answers."""

    url: str
    ask: Service
    tell: Service
    forget: Service
    load: int = 0
    version: int | None = None
    up: bool = True
    giving: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        await asyncio.gather(self.ask.close(), self.tell.close(), self.forget.close())


class VllmServers:
    """An engine over servers at these addresses. `patience` is how long requests wait while none of them answers.

    `started` are servers that end with the engine.
    """

    def __init__(
        self,
        urls: Sequence[str],
        exchange: Exchange,
        codec: HfCodec,
        *,
        patience: float = 600.0,
        started: Sequence[VllmProcess] = (),
        options: Options | None = None,
    ) -> None:
        self._codec = codec
        self._patience = patience
        self._started = started
        self._exchange = exchange
        self._replicas = [_replica(url, options or {}) for url in urls]
        self._changed = asyncio.Condition()
        self._under_way = 0
        self._revivals: set[asyncio.Task[None]] = set()
        self.policy_version = 0

    @classmethod
    def start(cls, count: int, exchange: Exchange, codec: HfCodec, arguments: Mapping[str, Any]) -> "VllmServers":
        """So many servers on this machine, which end with the engine."""
        processes: list[VllmProcess] = []
        try:
            processes.extend(VllmProcess(exchange.start, arguments) for _ in range(count))
            for process in processes:
                process.wait_until_ready()
        except BaseException:
            for process in processes:
                process.stop()
            raise
        return cls([process.url for process in processes], exchange, codec, started=processes)

    async def generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]:
        pairs = zip(prompts, sampling, strict=True)
        return list(await asyncio.gather(*[self._one(list(prompt), how) for prompt, how in pairs]))

    async def _one(self, prompt: list[int], sampling: Sampling) -> Completion:
        """From the server with the least to do; from another, if that one fails meanwhile."""
        body = {
            "prompt": prompt,
            "logprobs": 0,
            "return_token_ids": True,
            "add_special_tokens": False,
            **sampling_arguments(sampling),
        }
        self._under_way += 1
        try:
            while True:
                replica = await self._choose()
                version = self.policy_version
                replica.load += len(prompt) + sampling.max_tokens
                try:
                    return self._read(await replica.ask.ask(body), version)
                except EngineGone:
                    self._lose(replica)
                finally:
                    replica.load -= len(prompt) + sampling.max_tokens
        finally:
            self._under_way -= 1
            async with self._changed:
                self._changed.notify_all()

    def _read(self, answer: Any, version: int) -> Completion:
        try:
            choice = answer["choices"][0]
            ids, logprobs = tuple(choice["token_ids"]), choice["logprobs"]["token_logprobs"]
            reasons = choice["finish_reason"], choice["stop_reason"]
        except (KeyError, IndexError, TypeError):
            raise EngineError("the server answered in an unknown form; is it vLLM 0.32 or newer?") from None
        return completion(ids, logprobs, *reasons, self._codec, version)

    async def _choose(self) -> _Replica:
        async with self._changed:
            try:
                async with asyncio.timeout(self._patience):
                    await self._changed.wait_for(self._usable)
            except TimeoutError:
                raise EngineError(f"no server of vLLM has answered for {self._patience:.0f} seconds") from None
        return min(self._usable(), key=lambda one: one.load)

    def _usable(self) -> list[_Replica]:
        return [one for one in self._replicas if one.up]

    def _lose(self, replica: _Replica) -> None:
        """No more requests for this one until it is back."""
        if replica.up:
            replica.up, replica.version = False, None
            task = asyncio.get_running_loop().create_task(self._revive(replica))
            self._revivals.add(task)
            task.add_done_callback(self._revivals.discard)

    async def _revive(self, replica: _Replica) -> None:
        """Try to reach it until it takes the newest weights."""
        pause = _FIRST_PAUSE
        while not await self._give(replica):
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        replica.up = True
        async with self._changed:
            self._changed.notify_all()

    async def _give(self, replica: _Replica) -> bool:
        """Let the server reload, from the newest weights; whether it did."""
        async with replica.giving:
            while replica.version != self.policy_version or replica.version is None:
                version, newest = self.policy_version, self._exchange.newest
                kwargs = {"weights_path": str(newest)} if newest else {}
                try:
                    await replica.tell.ask({"method": "reload_weights", "kwargs": kwargs})
                    await replica.forget.ask({})
                except EngineError:
                    return False
                replica.version = version
        return True

    async def load(self, weights: "Mapping[str, torch.Tensor]", version: int) -> None:
        """Give all servers these weights, once requests under way are finished. At least one must take them."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._under_way == 0)
        await asyncio.to_thread(self._exchange.write, weights, version)
        self.policy_version = version
        for replica in self._replicas:
            replica.version = None
        taken = await asyncio.gather(*(self._give(replica) for replica in self._usable()))
        for replica, took in zip(self._usable(), taken, strict=True):
            if not took:
                self._lose(replica)
        if not any(taken):
            raise EngineError(
                "no server of vLLM took the new weights: each must run (with VLLM_SERVER_DEV_MODE=1) "
                "and see the folder engine.exchange"
            )
        self._exchange.forget_older()

    async def close(self) -> None:
        for task in list(self._revivals):
            task.cancel()
        await asyncio.gather(*(replica.close() for replica in self._replicas))
        await asyncio.gather(*(asyncio.to_thread(process.stop) for process in self._started))
        self._exchange.remove()


def _replica(url: str, options: Options) -> _Replica:
    if not url.startswith(("http://", "https://")):
        raise EngineError(f"{url!r} is not an address of a server; it should begin with http:// or https://")
    base = url.rstrip("/").removesuffix("/v1")
    asked: Options = {"timeout": 600.0, "attempts": 1, "connections": 256, **options}

    def service(path: str) -> Service:
        return Service(f"{base}{path}", EngineError, gone=EngineGone, **asked)

    return _Replica(base, service("/v1/completions"), service("/collective_rpc"), service("/reset_prefix_cache"))
