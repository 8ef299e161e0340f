"""Rules of the architecture that a reader relies on."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "ssp"
# Heavy libraries and the only modules that may import them.
HOMES = {
    "torch": (
        "engines/attention.py",
        "engines/local.py",
        "engines/models.py",
        "engines/products.py",
        "engines/sampler.py",
        "engines/scripted.py",  # for a type only
        "engines/vllm.py",  # for a type only
        "engines/vllm_servers.py",  # for a type only
        "engines/weights.py",
        "learning/adapters.py",
        "learning/batches.py",
        "learning/objective.py",
        "learning/tally.py",
        "learning/torch_learner.py",
        "models/gguf.py",
        "monitors/tensorboard.py",
        "protocols.py",  # for a type only
        "warmup/circuits.py",
        "warmup/looking.py",
        "warmup/model.py",
        "warmup/teach.py",
    ),
    "transformers": (
        "engines/codec.py",
        "engines/local.py",
        "engines/models.py",
        "engines/products.py",
        "learning/adapters.py",
        "learning/freezing.py",
        "learning/objective.py",
        "learning/torch_learner.py",
        "models/gguf.py",
        "warmup/circuits.py",
        "warmup/looking.py",
        "warmup/model.py",
        "warmup/teach.py",
        "warmup/tokenizer.py",
    ),
    "peft": ("learning/adapters.py",),
    "huggingface_hub": ("models/hub.py",),
    "trackio": ("monitors/trackio.py",),
    "vllm": (),
    "wandb": ("monitors/wandb.py",),
    "ray": (),
    "faiss": ("search/dense.py",),
    "sentence_transformers": ("search/dense.py",),
    "numba": ("compiled.py",),
    "bm25s": ("search/bm25.py",),
    "uvicorn": ("cli/serve.py",),
    "starlette": ("search/server.py",),
    "httpx": ("engines/vllm_process.py", "packages.py", "service.py"),
    "pyarrow": ("runs/export.py", "search/corpus.py"),
}
PURE = [
    "types",
    "text.py",
    "rng.py",
    "errors.py",
    "records.py",
    "worlds/schema.py",
    "worlds/names.py",
    "agents/protocol.py",
    "game/credit.py",
    "game/gates.py",
    "game/metrics.py",
    "game/pool.py",
    "game/reward.py",
    "game/samples.py",
    "runs/health.py",
]
IO_MODULES = {"os", "pathlib", "socket", "subprocess", "shutil", "tempfile", "sqlite3", "requests"} | set(HOMES)


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_heavy_libraries_stay_in_their_rooms() -> None:
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        for library in imports(path) & set(HOMES):
            assert place in HOMES[library], f"{place} imports {library}"


def test_the_core_does_no_io() -> None:
    for name in PURE:
        target = SOURCE / name
        for path in [target] if target.is_file() else target.rglob("*.py"):
            assert not imports(path) & IO_MODULES, f"{path} imports {imports(path) & IO_MODULES}"


@pytest.mark.parametrize(
    "code",
    [
        "from ssp.cli.main import main; main(['--help'])",
        "from ssp.cli.main import main; main(['train', '--dry-run'])",
        "import ssp.cli.search, ssp.search.index, ssp.search.bm25, ssp.search.hybrid",
        "import ssp.cli.serve, ssp.search.server",
        "import ssp.cli.models, ssp.models.pull, ssp.chat, ssp.engines.vllm_process",
        "import ssp.cli.ask, ssp.cli.play, ssp.agents.agent, ssp.engines.scripted, ssp.game.step",
    ],
)
def test_light_commands_do_not_load_heavy_libraries(code: str) -> None:
    check = (
        f"{code}\nimport sys\nprint(sorted({{'torch', 'transformers', 'numba', 'faiss', 'bm25s'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_environment_is_read_only_for_secrets() -> None:
    readers = {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py") if "os.environ" in p.read_text()}
    assert readers <= {"chat.py", "cli/serve.py", "environment.py"}
