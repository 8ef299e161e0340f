"""The workload of `bench.rollouts` with any engine; run as a program, with vLLM's."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssp.protocols import Engine

Turns = Sequence[tuple[int, list[int]]]  # tokens to sample, and the observation that follows


async def played(engine: "Engine", scripts: Sequence[tuple[list[int], Turns]]) -> float:
    """All trajectories at once, turn by turn; gives the seconds that it takes."""
    from ssp.types import Sampling

    async def trajectory(number: int, prompt: list[int], turns: Turns) -> None:
        tokens = list(prompt)
        for turn, (length, seen) in enumerate(turns):
            [done] = await engine.generate([tokens], [Sampling(length, seed=number * 100 + turn)])
            tokens += [*done.token_ids, *seen]

    await engine.generate([[5, 6, 7]], [Sampling(3)])  # compile
    began = time.perf_counter()
    await asyncio.gather(*(trajectory(number, *script) for number, script in enumerate(scripts)))
    return time.perf_counter() - began


def worker(model: Path, file: Path, cache_gb: float) -> dict[str, float]:
    from ssp.config import load_config
    from ssp.engines.open import open_engine

    async def play() -> float:
        config = load_config(overrides=("engine.kind=vllm", f"engine.cache_gb={cache_gb}"))
        engine, _ = open_engine(config, model)
        try:
            return await played(engine, [(prompt, turns) for prompt, turns in json.loads(file.read_text())])
        finally:
            await engine.close()

    return {"seconds": asyncio.run(play())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", nargs=3)
    model, file, cache_gb = parser.parse_args().worker
    sys.stdout.write(json.dumps(worker(Path(model), Path(file), float(cache_gb))) + "\n")
