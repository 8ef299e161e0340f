"""A run that is killed and resumed is the run that was not."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Run, command

SETTINGS = (
    "world.articles=200", "warmup.steps=3", "warmup.cache=cache", "game.seeds=4", "eval.questions=2", "steps=0",
    # an unlearned model proposes nothing valid; a penalty lets it learn all the same
    "reward.invalid=-0.1", "credit.proposer=reinforce", "learner.learning_rate=1e-4",
)  # fmt: skip
STEPS = 4


def logged(run: Path, log: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (run / log).read_text().splitlines()]
    return [{key: value for key, value in row.items() if "seconds" not in key} for row in rows]


def weights(run: Path) -> bytes:
    newest = max(run.glob("checkpoints/step-*"), key=lambda path: path.name)
    assert newest.name == f"step-{STEPS:06d}"
    return (newest / "model" / "model.safetensors").read_bytes() + (newest / "optimizer.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("kills", "more"), [(1, ()), (3, ()), (2, ("lora.rank=4", "learner.frozen=[]"))], ids=["once", "often", "adapters"]
)
def test_kill_and_resume(ssp: Run, tmp_path: Path, kills: int, more: tuple[str, ...]) -> None:
    settings = (*SETTINGS, *more)
    prepared = ssp("train", *(part for one in settings for part in ("--set", one)), "--out", "whole")
    assert prepared.returncode == 0, prepared.stderr
    shutil.copytree(tmp_path / "whole", tmp_path / "killed")
    on = ("--resume", "--set", f"steps={STEPS}", "--out")
    assert ssp("train", *on, "whole").returncode == 0
    for _ in range(kills):
        process = subprocess.Popen([*command(), "train", *on, "killed"], cwd=tmp_path, stderr=subprocess.DEVNULL)
        _wait_for_a_step(tmp_path / "killed", process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = ssp("train", *on, "killed")
    assert done.returncode == 0, done.stderr
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    first = next((tmp_path / "whole").glob("checkpoints/step-000000/model/model.safetensors")).read_bytes()
    assert not weights(tmp_path / "whole").startswith(first), "something was learned"
    for log in ("metrics.jsonl", "evals.jsonl"):
        assert logged(tmp_path / "killed", log) == logged(tmp_path / "whole", log)


def _wait_for_a_step(run: Path, process: "subprocess.Popen[bytes]") -> None:
    """Until something more is written than there was, or the process is through."""
    log = run / "episodes.jsonl"
    before = log.stat().st_size if log.exists() else 0
    for _ in range(1200):
        if process.poll() is not None or (log.exists() and log.stat().st_size > before):
            return
        time.sleep(0.05)
    raise AssertionError("no step within a minute")


@pytest.mark.parametrize(
    ("how", "in_background"), [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)]
)
def test_ctrl_c_says_how_to_go_on(ssp: Run, tmp_path: Path, how: signal.Signals, in_background: bool) -> None:
    """Also in the background of a script, where a shell lets its commands ignore Ctrl-C."""
    prepared = ssp("train", *(part for one in SETTINGS for part in ("--set", one)), "--out", "run")
    assert prepared.returncode == 0, prepared.stderr
    shell = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"] if in_background else []
    again = [*shell, *command(), "train", "--resume", "--set", "steps=500", "--out", "run"]
    process = subprocess.Popen(again, cwd=tmp_path, stderr=subprocess.PIPE)
    _wait_for_a_step(tmp_path / "run", process)
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Go on with: ssp train --resume --out run" in said.decode()
    assert "Traceback" not in said.decode()
