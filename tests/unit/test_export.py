"""Verified problems as rows, and a benchmark that nothing of the training is in."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from pyarrow import parquet

from ssp.config import load_config
from ssp.errors import ConfigError, DataError
from ssp.evaluate.sets import read_set
from ssp.records import encode
from ssp.runs.benchmark import Contamination
from ssp.runs.export import export_problems
from ssp.types import Doc, Episode, Verdict
from tests.unit.test_game import game


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with one verified question, solved by two of four, and one that was refused."""
    answers = iter(["Dunford", "Elwick", "Dunford", "Elwick"])
    valid = game("<answer>Dunford</answer>", lambda: f"<answer>{next(answers)}</answer>")
    refused = game("<answer>unknown</answer>", lambda: "")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text(load_config(overrides=["agent.prompts=en"]).model_dump_json())
    (folder / "episodes.jsonl").write_bytes(
        encode(valid) + b"\n" + encode(replace(refused, id="other", proposal=None, rewards={}, problem=None)) + b"\n"
    )
    return folder


def test_rows_have_all_that_is_known(run: Path, tmp_path: Path) -> None:
    assert export_problems(run, tmp_path / "out.jsonl") == 1
    [row] = map(orjson.loads, (tmp_path / "out.jsonl").read_bytes().splitlines())
    assert row["answers"] == ["Dunford"]
    assert row["evidence"] == [{"id": "d1", "title": "Mira Dolven", "text": "Mira Dolven was born in Dunford."}]
    assert (row["solve_rate"], row["attempts"], row["policy_version"]) == (0.5, 4, 0)
    assert "rag" in row["passed"]
    [question] = read_set(tmp_path / "out.jsonl")
    assert (question.question, question.answers) == (row["question"], ("Dunford",))


def test_parquet_has_the_same(run: Path, tmp_path: Path) -> None:
    export_problems(run, tmp_path / "out.jsonl")
    export_problems(run, tmp_path / "out.parquet")
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert rows == list(map(orjson.loads, (tmp_path / "out.jsonl").read_bytes().splitlines()))


def test_rows_for_verl(run: Path, tmp_path: Path) -> None:
    export_problems(run, tmp_path / "out.parquet", "verl")
    [row] = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert set(row) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    assert row["reward_model"] == {"style": "rule", "ground_truth": {"target": ["Dunford"]}}
    [message] = row["prompt"]
    assert message["role"] == "user"
    assert message["content"].rstrip().endswith(row["extra_info"]["question"])


def test_mistakes_get_one_line_and_nothing_is_written(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.jsonl or \.parquet"):
        export_problems(run, tmp_path / "out.csv")
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(DataError, match="exists already"):
        export_problems(run, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "mine"
    (run / "episodes.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match="nothing to export"):
        export_problems(run, tmp_path / "other.jsonl")
    (run / "episodes.jsonl").unlink()
    with pytest.raises(DataError, match="no episodes"):
        export_problems(run, tmp_path / "other.jsonl")
    assert not list(tmp_path.glob("*other*"))


def asked(question: str, answer: str) -> Episode:
    played = game("<answer>Dunford</answer>", lambda: "<answer>Dunford</answer>")
    assert played.problem is not None
    problem = replace(played.problem, question=question, answer=answer, evidence=(Doc("d", "t", "x"),))
    return replace(played, problem=problem, verdict=Verdict.of(played.verdict.checks) if played.verdict else None)


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        ("Where was the mayor of Oakmere born?", "Elwick", "question was trained on"),
        ("where was the mayor of oakmere born", "Elwick", "question was trained on"),
        ("Which town lies upstream?", "the Dunford", "answer was trained on"),
        ("Who founded the company that owns the mill at Harrow?", "Tom Lund", ""),
        ("Who founded Harrow?", "Tom Lund", ""),
    ],
)
def test_what_was_trained_on_is_no_test(question: str, answer: str, why: str) -> None:
    trained = Contamination.of([asked("Where was the mayor of Oakmere born?", "Dunford")])
    assert trained.found_in(asked(question, answer)) == why
