"""The learner next to TRL's GRPO trainer: one update on the same trajectories of the same model.

Trajectories are those of self-play: a prompt, then turns with observations between them, one to four searches, so of
very different lengths. What was observed counts for neither. TRL is handed the trajectories where it would
generate; only its training steps are timed. Both compute in float32, with AdamW and without a penalty.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch
from transformers import PreTrainedModel

from bench.common import in_process, save, table
from bench.rollouts import Script, build, matmul_peak, workload
from ssp.config import LearnerConfig
from ssp.learning.torch_learner import TorchLearner
from ssp.types import Role, Sample

ROWS = 8  # of a micro-batch of TRL's


def sample_of(number: int, script: Script) -> Sample:
    """The trajectory of a script, with some words in the place of what was sampled."""
    ids, mask = list(script.prompt), [False] * len(script.prompt)
    for length, seen in script.turns:
        ids += [200 + (number * 31 + n * 7) % 3000 for n in range(length)] + seen
        mask += [True] * length + [False] * len(seen)
    advantage = 1.0 if number % 2 else -1.0
    return Sample(
        id=f"{number:04d}",
        role=Role.SOLVER,
        group=str(number // 5),
        policy_version=0,
        token_ids=tuple(ids),
        mask=tuple(mask),
        logprobs=tuple(-8.0 if masked else 0.0 for masked in mask),
        advantages=tuple(advantage if masked else 0.0 for masked in mask),
    )


def ours(model: PreTrainedModel, samples: Sequence[Sample]) -> float:
    learner = TorchLearner(model, LearnerConfig(learning_rate=1e-6), steps=2)
    learner.update(samples[:2], 0)  # AdamW's state
    began = time.perf_counter()
    learner.update(samples, 1)
    return time.perf_counter() - began


def with_trl(model: PreTrainedModel, tokenizer: Any, scripts: Sequence[Script], samples: Sequence[Sample]) -> float:
    trl: Any = import_module("trl")  # without types, whether it is installed or not
    datasets: Any = import_module("datasets")
    batch = padded(scripts, samples)

    class Handed(trl.GRPOTrainer):  # type: ignore[misc]
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            return batch

    steps = len(samples) // ROWS
    with tempfile.TemporaryDirectory() as scratch:
        settings = trl.GRPOConfig(
            output_dir=scratch, per_device_train_batch_size=ROWS, gradient_accumulation_steps=steps, max_steps=1,
            num_generations=ROWS, learning_rate=1e-6, beta=0.0, gradient_checkpointing=False, bf16=False, use_cpu=True,
            report_to="none", save_strategy="no", logging_strategy="no", disable_tqdm=True, max_completion_length=4096,
            optim="adamw_torch_fused",
        )  # fmt: skip
        rows = datasets.Dataset.from_dict({"prompt": ["x"] * len(samples)})
        trainer = Handed(model, lambda completions, **_: [0.0] * len(completions), settings, rows, None, tokenizer)
        began = time.perf_counter()
        trainer.train()
        return time.perf_counter() - began


def padded(scripts: Sequence[Script], samples: Sequence[Sample]) -> dict[str, torch.Tensor]:
    """As TRL has them: prompts padded on the left, completions on the right."""
    starts = [len(script.prompt) for script in scripts]
    left, right = max(starts), max(len(one.token_ids) - start for one, start in zip(samples, starts, strict=True))
    shape = (len(samples), right)
    prompts = torch.zeros(len(samples), left, dtype=torch.long)
    prompt_mask, completions = torch.zeros_like(prompts), torch.zeros(shape, dtype=torch.long)
    mask, tools, logprobs = torch.zeros(shape, dtype=torch.long), torch.zeros(shape), torch.zeros(shape)
    for row, (one, start) in enumerate(zip(samples, starts, strict=True)):
        length = len(one.token_ids) - start
        prompts[row, left - start :] = torch.tensor(one.token_ids[:start])
        prompt_mask[row, left - start :] = 1
        completions[row, :length] = torch.tensor(one.token_ids[start:])
        mask[row, :length] = 1
        tools[row, :length] = torch.tensor(one.mask[start:], dtype=torch.float32)
        logprobs[row, :length] = torch.tensor(one.logprobs[start:])
    return {
        "prompt_ids": prompts,
        "prompt_mask": prompt_mask,
        "completion_ids": completions,
        "completion_mask": mask,
        "tool_mask": tools.long(),
        "old_per_token_logps": logprobs,
        "advantages": torch.tensor([1.0 if row % 2 else -1.0 for row in range(len(samples))]),
        "num_items_in_batch": tools.sum(),
    }


def worker(problems: int) -> dict[str, Any]:
    model, codec, library, _, _ = build("smollm2")
    scripts = workload(codec, library, problems)
    scripts = scripts[: len(scripts) // ROWS * ROWS]
    samples = [sample_of(number, script) for number, script in enumerate(scripts)]
    tokens = sum(len(one.token_ids) for one in samples)
    weights = sum(value.numel() for name, value in model.named_parameters() if "embed" not in name)
    peak = matmul_peak()
    seconds = {"ssp": ours(model, samples)}
    model, codec, _, _, _ = build("smollm2")
    seconds["TRL"] = with_trl(model, codec.tokenizer, scripts, samples)
    peak = max(peak, matmul_peak())
    return {
        "rows": [
            {
                "what": what,
                "trajectories": len(samples),
                "tokens": tokens,
                "sampled": sum(one.trained_tokens for one in samples),
                "seconds": took,
                "tokens/s": tokens / took,
                "ratio": seconds["TRL"] / took,
                "share of matmul peak": 6 * weights * tokens / took / peak,
            }
            for what, took in seconds.items()
        ]
    }


def main(problems: int = 16) -> None:
    rows = in_process("bench.update", problems)["rows"]
    print(table(rows))
    save("update", rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", nargs=1)
    [count] = parser.parse_args().worker
    torch.set_num_threads(2)
    sys.stdout.write(json.dumps(worker(int(count))) + "\n")
