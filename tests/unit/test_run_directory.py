"""The run directory: appended logs, checkpoints, and going back to one."""

import shutil
from pathlib import Path

import pytest

from ssp.errors import DataError
from ssp.runs.directory import EVALS, METRICS, RunDirectory
from ssp.types import PoolEntry, Problem, RunState


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    folder = tmp_path / "run"
    (folder / "checkpoints" / "step-000000" / "model").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return RunDirectory(folder)


def state(step: int) -> RunState:
    problem = Problem(id="p", seed_id="s", question="Who?", answer="A", proposal_id="t", hops=1)
    return RunState(seed=5, step=step, pool=(PoolEntry(problem, 1, 5, 2),), baselines={"solver": 0.25})


def save(run: RunDirectory, step: int) -> None:
    with run.new_checkpoint(state(step)) as folder:
        (folder / "model").mkdir()
        (folder / "model" / "config.json").write_text(f"weights of {step}")


def test_a_fresh_run_begins_at_nothing_and_drops_what_was_logged(run: RunDirectory) -> None:
    run.append(METRICS, [b'{"step":0}'])
    assert run.restore(5) == (RunState(seed=5), run.path / "checkpoints" / "step-000000")
    assert list(run.lines(METRICS)) == []


def test_restoring_gives_the_state_and_cuts_the_logs(run: RunDirectory) -> None:
    run.append(METRICS, [b'{"step":0}'])
    save(run, 1)
    run.append(METRICS, [b'{"step":1}'])
    (run.path / EVALS).write_bytes(b'{"half')
    found, where = run.restore(5)
    assert (found, where.name) == (state(1), "step-000001")
    assert list(run.lines(METRICS)) == [{"step": 0}]
    assert list(run.lines(EVALS)) == []


def test_an_interrupted_checkpoint_is_not_one(run: RunDirectory) -> None:
    save(run, 1)
    with pytest.raises(RuntimeError), run.new_checkpoint(state(2)):
        raise RuntimeError
    leftover = run.path / "checkpoints" / ".step-000003.x.partial"
    leftover.mkdir()
    assert run.restore(5)[0].step == 1
    assert not leftover.exists()


def test_a_damaged_checkpoint_is_refused_with_what_to_do(run: RunDirectory) -> None:
    save(run, 1)
    save(run, 2)
    (run.path / "checkpoints" / "step-000002" / "model" / "config.json").write_text("other")
    with pytest.raises(DataError, match="remove it to go on from the one before"):
        run.restore(5)
    shutil.rmtree(run.path / "checkpoints" / "step-000002")
    assert run.restore(5)[0].step == 1


def test_a_log_that_lost_lines_is_refused(run: RunDirectory) -> None:
    run.append(METRICS, [b'{"step":0}'])
    save(run, 1)
    (run.path / METRICS).write_bytes(b"")
    with pytest.raises(DataError, match="shorter than its checkpoint says"):
        run.restore(5)


def test_the_first_and_the_newest_checkpoints_are_kept(run: RunDirectory) -> None:
    for step in range(1, 6):
        save(run, step)
    run.prune(2)
    assert [one.name for one in run.checkpoints()] == ["step-000000", "step-000004", "step-000005"]
    assert run.healthy_checkpoint(1).name == "step-000004"
    assert run.healthy_checkpoint(3).name == "step-000000"


def test_two_processes_can_not_write_at_once(run: RunDirectory) -> None:
    with (
        RunDirectory.locked(run.path),
        pytest.raises(DataError, match="another process"),
        RunDirectory.locked(run.path),
    ):
        pass


def test_something_else_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no run directory"), RunDirectory.locked(tmp_path):
        pass
