"""Rollouts: the local engine next to vLLM and to `transformers` `generate`, driven turn by turn in padded batches.

The workload is that of self-play: problems × 5 attempts, one to four searches each, three documents per search. Turn
lengths and documents are drawn beforehand and are the same for both, so that neither gains by what it happens to
sample: a model with random weights serves as well as a trained one. `generate` computes the whole context again in
each turn, and a batch waits for its longest turn; that is how it is commonly used. vLLM (its CPU build, if it is
installed) runs in a process of its own and is driven by the same code as our engine.
"""

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel, StoppingCriteria, StoppingCriteriaList

from bench.common import OUT, in_process, save, table
from bench.vllm_rollouts import played
from ssp.engines.codec import HfCodec
from ssp.engines.local import LocalEngine, LocalSettings
from ssp.engines.models import load_model, save_model
from ssp.models.pull import pull
from ssp.types import Sampling
from ssp.warmup.model import TinyShape, tiny_model
from ssp.warmup.tiny import VOCABULARY
from ssp.warmup.tokenizer import train_tokenizer
from ssp.warmup.world_library import WorldLibrary
from ssp.worlds.world import WorldSettings

ATTEMPTS = 5
DOCUMENTS = 3


@dataclass(frozen=True)
class Script:
    """One trajectory: its prompt, and for each turn the tokens to sample and the observation that follows."""

    prompt: list[int]
    turns: list[tuple[int, list[int]]]

    @property
    def sampled(self) -> int:
        return sum(length for length, _ in self.turns)


def workload(codec: HfCodec, library: WorldLibrary, problems: int, seed: int = 0) -> list[Script]:
    rng = random.Random(seed)
    scripts = []
    for _ in range(problems):
        hops = rng.randint(1, 4)
        prompt = list(codec.encode(f"<|user|>Question:\n{library.puzzle(hops, rng).question}<|assistant|>"))
        for _ in range(ATTEMPTS):
            searches = min(4, max(1, hops + rng.choice((-1, 0, 0, 1))))
            turns = [(rng.randint(8, 40), observation(codec, library, rng)) for _ in range(searches)]
            scripts.append(Script(prompt, [*turns, (rng.randint(8, 40), [])]))
    return scripts


def observation(codec: HfCodec, library: WorldLibrary, rng: random.Random) -> list[int]:
    text = "\n".join(library.document(rng).text for _ in range(DOCUMENTS))
    return list(codec.encode(f"\n<information>{text}</information>\n"))


def with_engine(model: PreTrainedModel, codec: HfCodec, scripts: Sequence[Script], cache_gb: float) -> dict[str, Any]:
    engine = LocalEngine(model, codec, LocalSettings(cache_gb=cache_gb))
    seconds = asyncio.run(played(engine, [(one.prompt, one.turns) for one in scripts]))
    return {"seconds": seconds, "computed": engine.counters.computed_tokens + engine.counters.sampled_tokens}


def with_vllm(model: Path, scripts: Sequence[Script], cache_gb: float) -> dict[str, Any] | None:
    """In a process whose main module loads little: vLLM's workers load it again."""
    if find_spec("vllm") is None:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([[one.prompt, one.turns] for one in scripts], file)
        file.flush()
        return in_process("bench.vllm_rollouts", model, file.name, cache_gb)


class _RowsDone(StoppingCriteria):
    """Each row stops at its own length, so that `generate` may end when all have."""

    def __init__(self, width: int, lengths: Sequence[int]) -> None:
        self.ends = torch.tensor([width + length for length in lengths])

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:
        return torch.tensor(input_ids.shape[1]) >= self.ends


def with_generate(model: PreTrainedModel, scripts: Sequence[Script], batch: int) -> dict[str, Any]:
    model.set_attn_implementation("sdpa")
    torch.manual_seed(0)
    computed = 0
    began = time.perf_counter()
    contexts = [list(script.prompt) for script in scripts]
    for turn in range(max(len(script.turns) for script in scripts)):
        active = [number for number, script in enumerate(scripts) if turn < len(script.turns)]
        for start in range(0, len(active), batch):
            rows = active[start : start + batch]
            lengths = [scripts[number].turns[turn][0] for number in rows]
            width = max(len(contexts[number]) for number in rows)
            ids, mask = left_padded([contexts[number] for number in rows], width)
            done = generate(model, ids, mask, max(lengths), _RowsDone(width, lengths))
            computed += width * len(rows) + sum(lengths)
            for row, number in enumerate(rows):
                contexts[number] += done[row, width : width + lengths[row]].tolist() + scripts[number].turns[turn][1]
    return {"seconds": time.perf_counter() - began, "computed": computed}


def left_padded(rows: Sequence[Sequence[int]], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for number, row in enumerate(rows):
        ids[number, width - len(row) :] = torch.tensor(row)
        mask[number, width - len(row) :] = 1
    return ids, mask


@torch.inference_mode()
def generate(
    model: PreTrainedModel, ids: torch.Tensor, mask: torch.Tensor, tokens: int, stop: StoppingCriteria | None = None
) -> torch.Tensor:
    criteria = StoppingCriteriaList([stop] if stop else [])
    result: torch.Tensor = model.generate(  # type: ignore[operator, unused-ignore]
        input_ids=ids, attention_mask=mask, max_new_tokens=tokens, min_new_tokens=1, do_sample=True, top_k=0,
        stopping_criteria=criteria, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    return result


def phases(model: PreTrainedModel, codec: HfCodec, rows: int, cache_gb: float) -> list[dict[str, Any]]:
    """Prefill (256 tokens, one sampled) and decode (64 more tokens) apart, each against the measured matmul peak."""
    rng = random.Random(1)
    prompts = [rng.choices(range(100, 1000), k=256) for _ in range(rows)]
    weights = sum(p.numel() for name, p in model.named_parameters() if "embed" not in name)
    peaks = [matmul_peak()]
    results = []
    engine = LocalEngine(model, codec, LocalSettings(cache_gb=cache_gb))
    asyncio.run(engine.generate([[5, 6, 7]], [Sampling(3)]))
    timed = {}
    for tokens in (1, 65):
        fresh = [[*rng.choices(range(100, 1000), k=16), *prompt[16:]] for prompt in prompts]
        began = time.perf_counter()
        asyncio.run(engine.generate(fresh, [Sampling(tokens, seed=n) for n in range(rows)]))
        timed["engine", tokens] = time.perf_counter() - began
        peaks.append(matmul_peak())  # others may use this machine: the best of several moments
    model.set_attn_implementation("sdpa")
    for tokens in (1, 65):
        began = time.perf_counter()
        generate(model, *left_padded(prompts, 256), tokens)
        timed["generate", tokens] = time.perf_counter() - began
        peaks.append(matmul_peak())
    for who in ("engine", "generate"):
        prefill, decode = timed[who, 1], timed[who, 65] - timed[who, 1]
        for phase, seconds, tokens in (("prefill", prefill, 256 * rows), ("decode", decode, 64 * rows)):
            share = 2 * weights * tokens / seconds / max(peaks)
            results.append({"what": who, "phase": phase, "tokens/s": tokens / seconds, "share of matmul peak": share})
    return results


def matmul_peak() -> float:
    """Floating-point operations per second of a large matrix product: the best of five."""
    one, other = torch.randn(2048, 2048), torch.randn(2048, 2048)
    best = float("inf")
    for _ in range(6):
        began = time.perf_counter()
        one @ other
        best = min(best, time.perf_counter() - began)
    return 2 * 2048**3 / best


def smollm2(folder: Path) -> Path:
    """SmolLM2 with another end token, one that it hardly ever samples: turns have the lengths that were drawn."""
    model, codec = load_model(pull("smollm2-135m", lambda stage, count: None))
    codec.tokenizer.eos_token = "<|endoftext|>"
    for settings in (model.config, model.generation_config):
        settings.eos_token_id = codec.tokenizer.eos_token_id
    save_model(model, HfCodec(codec.tokenizer), folder)
    return folder


def build(name: str) -> tuple[PreTrainedModel, HfCodec, WorldLibrary, float, int]:
    [library] = WorldLibrary.siblings(WorldSettings(), 1)
    codec = HfCodec(train_tokenizer(library.texts(), VOCABULARY))
    if name == "tiny":
        return tiny_model(1, 0, torch.ones(len(codec)), TinyShape(), 0).eval(), codec, library, 2.0, 320
    if name == "smollm2":
        folder = OUT / "smollm2"
        shutil.rmtree(folder, ignore_errors=True)
        model, codec = load_model(smollm2(folder))
        return model.eval(), codec, library, 4.0, 64
    raise ValueError(f"no model {name!r}; there are tiny and smollm2")


def worker(model_name: str, problems: int) -> dict[str, Any]:
    model, codec, library, cache_gb, batch = build(model_name)
    scripts = workload(codec, library, problems)
    sampled = sum(script.sampled for script in scripts)
    results = {"ssp local": with_engine(model, codec, scripts, cache_gb)}
    if model_name == "smollm2" and (found := with_vllm(OUT / model_name, scripts, cache_gb)):
        results["vLLM"] = found
    results["transformers generate"] = with_generate(model, scripts, batch)
    slowest = results["transformers generate"]["seconds"]
    rows = [
        {
            "model": model_name,
            "what": what,
            "trajectories": len(scripts),
            "sampled": sampled,
            **result,
            "sampled/s": sampled / result["seconds"],
            "ratio": slowest / result["seconds"],
        }
        for what, result in results.items()
    ]
    return {"rows": rows, "phases": phases(model, codec, 64 if model_name == "tiny" else 16, cache_gb)}


def scaling(counts: Sequence[int]) -> list[dict[str, Any]]:
    """Time per token as more trajectories run at once (tiny model)."""
    model, codec, library, cache_gb, _ = build("tiny")
    rows = []
    for count in counts:
        scripts = workload(codec, library, -(-count // ATTEMPTS))[:count]
        best = min((with_engine(model, codec, scripts, cache_gb) for _ in range(2)), key=lambda run: run["seconds"])
        rows.append({"trajectories": count, **best, "µs per token": 1e6 * best["seconds"] / best["computed"]})
    return rows


def main(problems: int = 64) -> None:
    comparison: list[dict[str, Any]] = []
    for name in ("tiny", "smollm2"):
        answer = in_process("bench.rollouts", name, problems)
        comparison += answer["rows"]
        print(table(answer["rows"]), "\n")
        print(table(answer["phases"]), "\n", flush=True)
    rows = in_process("bench.rollouts", "scaling", 0)["rows"]
    print(table(rows))
    save("rollouts", [*comparison, *rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", nargs=2)
    name, count = parser.parse_args().worker
    torch.set_num_threads(2)
    if name == "scaling":
        answer: dict[str, Any] = {"rows": scaling((8, 32, 128, 512))}
    else:
        answer = worker(name, int(count))
    sys.stdout.write(json.dumps(answer) + "\n")
