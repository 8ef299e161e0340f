"""The default job, cut short: what it is all for happens, through the real command."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Run

STEPS = 10


def test_self_play_teaches_search(ssp: Run, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """With 100 questions a set, the standard error of a difference is below 7 points; margins are three of them.

    The warmed-up model is kept in pytest's cache, so that only the first run takes its minutes.
    """
    assert request.config.cache is not None
    cache = request.config.cache.mkdir("warmup")
    trained = ssp("train", "--json", "--set", f"steps={STEPS}", "--set", f"warmup.cache={cache}", timeout=1800)
    assert trained.returncode == 0, trained.stderr
    result = json.loads(trained.stdout)
    start, final = result["eval"]["start"], result["eval"]["final"]
    assert start["world-1"]["n"] == final["world-1"]["n"] == 100
    assert start["world-2"]["searches"] > start["world-1"]["searches"] + 0.5, "longer questions are searched for longer"
    assert final["world-1"]["accuracy"] > start["world-1"]["accuracy"] + 0.2
    assert final["world-2"]["accuracy"] > start["world-2"]["accuracy"] + 0.2
    assert final["world-2"]["searches"] > final["world-1"]["searches"] + 0.5, "and still are: no one-search equilibrium"
    assert result["funnel"]["valid"] > 0.1 * result["funnel"]["proposed"]
    run = tmp_path / result["run"]
    assert "torch" in json.loads((run / "versions.json").read_text())
    assert f"step {STEPS}/{STEPS} · valid " in (run / "log.txt").read_text()
    assert "True share of valid questions" in (run / "report.html").read_text()
