"""Trackers get the numbers of a run, and none of them can stop one."""

import importlib.util
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ssp.cli.follow import Lines, follow
from ssp.errors import ConfigError
from ssp.monitors import open as opening
from ssp.monitors.open import KINDS, Guarded, open_monitors, require_installed
from ssp.monitors.recording import Recording
from ssp.runs.health import Alarm
from ssp.runs.watchers import Together, Tracked

METRICS: Mapping[str, object] = {
    "step": 3,
    "steps": 10,
    "valid": 0.25,
    "solver/reward_fresh": 0.5,
    "solver/searches": 1.5,
    "seconds/play": 6.0,
    "seconds/update": 4.0,
    "funnel/valid": 7,
}
SCORES = {"world-1": {"accuracy": 0.8, "n": 100, "searches": 1.0}}
ALARM = Alarm("death_spiral", "valid fell", "lower the rate", "warn")


def test_a_tracker_sees_numbers_only_and_counts_finished_steps() -> None:
    monitor = Recording()
    watcher = Together([Tracked(monitor)])
    watcher.step({**METRICS, "note": "text is no number"})
    watcher.evaluated(4, SCORES)
    watcher.alarm(3, ALARM)
    assert [step for step, _ in monitor.logged] == [4, 4, 4]
    assert monitor.logged[0][1] == {
        "valid": 0.25,
        "solver/reward_fresh": 0.5,
        "solver/searches": 1.5,
        "seconds/play": 6.0,
        "seconds/update": 4.0,
        "funnel/valid": 7.0,
    }
    assert monitor.logged[1][1]["held-out/world-1/accuracy"] == 0.8
    assert monitor.logged[2][1] == {"alarm/death_spiral": 1.0}


def test_a_tracker_that_fails_is_left_out_and_said_once() -> None:
    complaints: list[str] = []
    good, bad = Recording(), Recording(fails_at=2)
    both = Guarded({"good": good, "bad": bad}, complaints.append)
    for step in range(5):
        both.log(step, {"valid": 0.1})
    both.close()
    assert [step for step, _ in good.logged] == [0, 1, 2, 3, 4]
    assert [step for step, _ in bad.logged] == [0, 1]
    assert good.closed
    assert not bad.closed
    assert complaints == ["the monitor bad is out of order, the run goes on without it: the tracker is gone"]


def test_a_tracker_that_cannot_be_opened_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(run: Path, config: Mapping[str, object], step: int) -> Recording:
        raise ConnectionError("not logged in")

    complaints: list[str] = []
    monkeypatch.setattr(opening, "KINDS", {"wandb": refuse})
    open_monitors(["wandb"], tmp_path, {}, 0, complaints.append).log(1, {"valid": 0.1})
    assert complaints == ["the monitor wandb is out of order, the run goes on without it: not logged in"]


def test_a_tracker_that_is_not_installed_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"monitors: wandb is not installed; get it with: pip install 'ssp\[track\]'"):
        require_installed(["wandb"])


@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_real_trackers_take_what_a_run_tells(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each twice for the same run, as after a resume."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed (pip install 'ssp[track]')")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    complaints: list[str] = []
    run = tmp_path / "run-001"
    run.mkdir()
    for step in (0, 5):
        monitors = open_monitors([name], run, {"seed": 0, "learner": {"kl": 0.03}}, step, complaints.append)
        for number in range(step + 1, step + 6):
            monitors.log(number, {"valid": 0.1 * number, "held-out/world-1/accuracy": 0.5})
        monitors.close()
    assert complaints == []
    if name == "tensorboard":
        assert _steps(run / "tensorboard") == list(range(1, 11)), "none lost, none twice"


def _steps(folder: Path) -> list[int]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return [event.step for event in events.Scalars("valid")]


def test_lines_show_a_run_and_its_log_keeps_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(tmp_path)
    lines.step(METRICS)
    lines.evaluated(4, SCORES)
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "step 4/10 · valid 25% · solved 50% · searches 1.50 · 10.0 s · 60 s left"
    assert shown[1].startswith("held out after 4 steps: world-1 80% (")
    assert (tmp_path / "log.txt").read_text().count("\n") == 2


def test_on_a_terminal_the_newest_steps_are_a_table(tmp_path: Path) -> None:
    terminal = Console(file=StringIO(), force_terminal=True, width=100, height=40)
    with follow(tmp_path, terminal) as watcher:
        watcher.evaluated(0, {"world-1": {"accuracy": 0.4}})
        for step in range(20):
            watcher.step({**METRICS, "step": step, "steps": 20})
        watcher.evaluated(20, SCORES)
        watcher.alarm(19, ALARM)
    assert isinstance(terminal.file, StringIO)
    shown = terminal.file.getvalue().split("\x1b[2K")
    last = "".join(shown[-18:])
    assert "20/20" in last
    assert " 8/20" not in last, "only the newest steps"
    assert "held out after 0 steps: world-1 40%" in last
    assert "held out after 20 steps: world-1 80%" in last
    assert "death spiral: valid fell; lower the rate" in terminal.file.getvalue()
    assert (tmp_path / "log.txt").read_text().count("\n") == 23
