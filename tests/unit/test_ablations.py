"""Ablations: every arm is a valid configuration, runs are shared and resumed, tables say what was found."""

from pathlib import Path

import orjson
import pytest

from ssp.ablations.arms import ABLATIONS
from ssp.ablations.gates import GateScore, gate_lines
from ssp.ablations.outcome import Summary, outcome
from ssp.ablations.run import configs, is_done, place, play_all
from ssp.ablations.table import html, markdown, rows
from ssp.config import Config, load_config
from ssp.errors import ConfigError


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_arm_is_a_configuration_of_its_own(name: str) -> None:
    made = list(configs(name, 2, None, ("steps=7",)))
    assert len(made) == 2 * len(ABLATIONS[name].arms)
    assert len({place(Path(), config) for _, config in made}) == len(made)
    assert {config.steps for _, config in made} == {7}
    assert [config.seed for _, config in made] == sorted(config.seed for _, config in made), "seed by seed"


def test_the_default_is_the_same_run_in_all_ablations() -> None:
    default = place(Path("a"), load_config())
    for name, arm in (("roles", "both"), ("rag", "7 noise documents")):
        found = {arm: place(Path("a"), config) for arm, config in configs(name, 1, None, ())}
        assert found[arm] == default


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="there are roles, rag"):
        list(configs("rolls", 1, None, ()))


def finished(run: Path, config: Config, after: float) -> None:
    """A run as it stands on disk when it is done."""
    run.mkdir(parents=True)
    metrics = [
        {"step": step, "valid": 0.5, "true": 0.9, "seconds/play": 2.0, "seconds/update": 1.0, "seconds/record": 0.5}
        for step in range(config.steps)
    ]
    evals = [
        {"step": step, "sets": {"world-1": {"accuracy": accuracy}, "world-2": {"accuracy": accuracy / 2}}}
        for step, accuracy in ((0, 0.2), (config.steps, after))
    ]
    for name, lines in (("metrics.jsonl", metrics), ("evals.jsonl", evals)):
        (run / name).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    played: list[Path] = []

    def play(config: Config, run: Path) -> None:
        played.append(run)
        finished(run, config, after=0.8 if config.game.roles == "both" else 0.4)

    found = play_all("roles", 3, None, ("steps=2",), tmp_path, play)
    assert len(played) == 9
    assert play_all("roles", 3, None, ("steps=2",), tmp_path, play) == found
    assert len(played) == 9
    assert is_done(played[0], load_config(overrides=["steps=2"]))
    assert not is_done(played[0], load_config(overrides=["steps=3"]))
    lines = rows(ABLATIONS["roles"], found)
    assert [line[0] for line in lines] == ["arm", "solver only", "proposer only", "both"]
    assert dict(zip(lines[0], lines[3], strict=True)) == {
        "arm": "both", "paper": "49.5", "world-1": "80", "world-2": "40", "mean": "60.0",
        "gain": "+45.0 (+45 to +45)", "against the first": "+30.0 (+30 to +30)",
        "valid": "50", "true": "90", "s a step": "3.5", "seeds": "3",
    }  # fmt: skip
    assert "| both | 49.5 | 80 | 40 |" in markdown("roles", ABLATIONS["roles"], lines)
    assert "<td>both</td><td>49.5</td>" in html("roles", ABLATIONS["roles"], lines)


def test_one_seed_has_no_interval(tmp_path: Path) -> None:
    finished(tmp_path / "run", load_config(overrides=["steps=2"]), 0.8)
    assert Summary((outcome(tmp_path / "run"),)).gain_interval is None


def test_precision_and_recall_of_a_gate() -> None:
    score = GateScore("rag", questions=100, true=50, accepted=40, accepted_true=30)
    assert (score.precision, score.recall) == (0.75, 0.6)
    assert gate_lines([score])[-1] == "| rag | 40 | 75% | 60% |"
    nothing = GateScore("rag", 0, 0, 0, 0)
    assert (nothing.precision, nothing.recall) == (0.0, 0.0)
