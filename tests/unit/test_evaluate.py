"""Evaluation: the same agent as in the game, nothing lost when it is stopped, outages that are not scores."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest

from ssp.agents.agent import Budget, SearchAgent
from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.config import JudgeConfig, load_config
from ssp.engines.scripted import ByteCodec, ScriptedEngine
from ssp.errors import DataError
from ssp.evaluate.bounds import bounds
from ssp.evaluate.compare import compare_folders, compare_means
from ssp.evaluate.judging import judge_records, verdict_file
from ssp.evaluate.questions import Question
from ssp.evaluate.runner import Record, Sampling, evaluate_set, macro, open_folder, read_records, score
from ssp.game.reader import AgentReader
from ssp.game.step import Game
from ssp.game.verify import Verifier
from ssp.judges.scripted import ScriptedJudge
from ssp.records import decode
from ssp.search.index import build_index, open_index
from ssp.search.static import FailingSearcher, StaticSearcher
from ssp.types import Doc, Problem, Trajectory

BOTH = ["d1", "d2"]
QUESTIONS = [Question(f"q{n}", f"Question number {n}?", ("yes", "aye")) for n in range(5)]


def agent(reply: Callable[[str], str], *, failing: bool = False) -> SearchAgent:
    codec = ByteCodec()
    searcher = FailingSearcher() if failing else StaticSearcher({})
    return SearchAgent(
        ScriptedEngine(codec, reply), codec, searcher, PROTOCOLS["search-r1"], prompt_set("en"), Budget()
    )


def evaluate(player: SearchAgent, file: Path, sampling: Sampling | None = None) -> list[Record]:
    return asyncio.run(evaluate_set(player, QUESTIONS, file, sampling or Sampling(), lambda *_: None))


def odd_is_right(text: str) -> str:
    number = int(text.split("Question number ")[1][0])
    return "<answer>the Aye!</answer>" if number % 2 else "<answer>no, never</answer>"


def test_scores(tmp_path: Path) -> None:
    records = evaluate(agent(odd_is_right), tmp_path / "set.jsonl")
    result = score(records, len(QUESTIONS))
    assert (result["n"], result["em"], result["f1"], result["accuracy"]) == (5, 0.4, 0.4, 0.4)
    assert result["ci95"] == pytest.approx([0.1176, 0.7693], abs=1e-4)
    assert result["endings"] == {"finished": 5}
    saved = list(read_records(tmp_path / "set.jsonl"))
    assert [record["id"] for record in saved] == [one.id for one in QUESTIONS]
    assert macro({"set": records}) is None
    both = macro({"a": records, "b": records[:1]})
    assert both is not None
    assert both["accuracy"] == pytest.approx(0.2)


def test_several_answers(tmp_path: Path) -> None:
    said = iter(["yes", "no"] * 5)
    records = evaluate(agent(lambda _: f"<answer>{next(said)}</answer>"), tmp_path / "set.jsonl", Sampling(2, 1.0))
    result = score(records, 5)
    assert (result["em"], result["avg@2"], result["pass@2"]) == (0.5, 0.5, 1.0)


def test_a_stopped_evaluation_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    whole = evaluate(agent(odd_is_right), file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:2]) + lines[2][:40])  # as a kill leaves it
    asked: list[str] = []

    def reply(text: str) -> str:
        asked.append(text)
        return odd_is_right(text)

    again = evaluate(agent(reply), file)
    assert len(asked) == 3, "what was answered is not asked again"
    assert score(again, 5) == score(whole, 5)
    assert len(file.read_bytes().splitlines()) == 5


def test_an_outage_is_no_score(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    assert evaluate(agent(lambda _: "<search>x</search>", failing=True), file) == []
    assert score([], 5) == {"n": 0, "unanswered": 5}
    assert score(evaluate(agent(odd_is_right), file), 5)["n"] == 5


def test_a_folder_keeps_to_its_settings(tmp_path: Path) -> None:
    folder = tmp_path / "evals" / "a"
    open_folder(folder, {"model": "m", "samples": 1})
    open_folder(folder, {"model": "m", "samples": 1})
    with pytest.raises(DataError, match=r"other settings \(samples\)"):
        open_folder(folder, {"model": "m", "samples": 2})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with pytest.raises(DataError, match="no evaluation"):
        open_folder(tmp_path / "mine", {})


def test_evaluation_asks_exactly_as_the_game_does(tmp_path: Path) -> None:
    """The same prompt, token by token: what is trained is what is measured."""
    player = agent(odd_is_right)
    [record, *_] = evaluate(player, tmp_path / "set.jsonl")
    [line, *_] = read_records(tmp_path / "set.jsonl")
    assert line["id"] == record["id"]
    evaluated = decode(Trajectory, orjson.dumps(line["samples"][0]["trajectory"]))
    config = load_config(overrides=["game.attempts=2"])
    problem = Problem("p", "s", QUESTIONS[0].question, "yes", proposal_id="x", hops=1)
    played = asyncio.run(Game(player, Verifier(AgentReader(player), config.verify), config)._solve(problem, "game", 0))
    assert all(one.segments[0] == evaluated.segments[0] for one in played)


def test_comparing_folders(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a1", "a2", "b1", "b2")]
    for folder, reply in zip(folders, [odd_is_right] * 2 + [lambda _: "<answer>yes</answer>"] * 2, strict=True):
        folder.mkdir()
        evaluate(agent(reply), folder / "set.jsonl")
    [found] = compare_folders(folders[:2], folders[2:])
    assert (found.name, len(found.pairs)) == ("set", 2)
    assert found.difference == pytest.approx(0.6)
    assert found.over_seeds == pytest.approx((0.6, 0.6))
    assert found.pairs[0].only_b == 3
    assert compare_means(folders[:2], folders[2:]) == [], "one set has no mean of sets, however many runs"
    evaluate(agent(odd_is_right), folders[0] / "other.jsonl")
    evaluate(agent(odd_is_right), folders[2] / "other.jsonl")
    exact, overlap = compare_means(folders[:1], folders[2:3])
    assert (exact.measure, overlap.measure) == ("EM", "F1")
    assert exact.difference == pytest.approx(0.3), "one set is the same, the other 60 points better"
    assert 0.0 < exact.interval[0] <= exact.difference <= exact.interval[1] <= 0.5
    with pytest.raises(DataError, match="as many evaluations"):
        compare_folders(folders[:1], folders[2:])
    with pytest.raises(DataError, match="holds no evaluation"):
        compare_folders([tmp_path], [tmp_path])


def test_verdicts_stand_beside_the_answers_and_gaps_are_filled_later(tmp_path: Path) -> None:
    records = evaluate(agent(odd_is_right), tmp_path / "set.jsonl")
    file = verdict_file(tmp_path / "set.jsonl", JudgeConfig(kind="llm", url="http://judge", model="m"))
    asked: list[str] = []
    moody = True

    def decide(question: str, answers: Sequence[str], prediction: str) -> bool | None:
        asked.append(question)
        return None if moody and question.startswith("Question number 0") else True

    def judged() -> list[Record]:
        return asyncio.run(judge_records(ScriptedJudge(decide), records, file, lambda *_: None))

    first = score(judged(), 5)
    assert (first["n"], first["unjudged"], first["judge"], first["accuracy"]) == (5, 1, 1.0, 1.0)
    assert first["agreement"] == 0.5
    assert first["em"] == 0.5, "over the four that were judged"
    moody = False
    asked.clear()
    second = score(judged(), 5)
    assert asked == [QUESTIONS[0].question]
    assert (second["unjudged"], second["em"], second["accuracy"], second["agreement"]) == (0, 0.4, 1.0, 0.4)
    assert score(records, 5)["accuracy"] == 0.4, "without a judge it is exact match"


def test_bounds_of_search(tmp_path: Path) -> None:
    docs = [
        Doc("d1", "Oakmere", "Oakmere has a mayor, Mira Dolven."),
        Doc("d2", "Mira Dolven", "Mira Dolven was born in Dunford."),
        *(Doc(f"x{n}", f"Mayor {n}", "A mayor of a town, born somewhere.") for n in range(5)),
    ]
    build_index(docs, tmp_path / "index")
    rows = [
        {
            "id": "1",
            "question": "Where was the mayor of Oakmere born?",
            "answers": ["x"],
            "supporting_ids": ["d1", "d2"],
        },
        {"id": "2", "question": "Who is the mayor of Oakmere?", "answers": ["x"], "supporting_ids": ["d1"]},
        {"id": "3", "question": "Nobody knows what this needs.", "answers": ["x"]},
    ]
    file = tmp_path / "set.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    titles = {doc.id: doc.title for doc in docs}
    [one] = bounds(file, open_index(tmp_path / "index"), titles, [1])
    assert (one.questions, one.by_question, one.by_gold) == (2, 1, 2)
    with pytest.raises(DataError, match="passage d2 is not in this corpus"):
        bounds(file, open_index(tmp_path / "index"), {"d1": "Oakmere"}, [1])
    file.write_bytes(orjson.dumps(rows[2]))
    with pytest.raises(DataError, match="no supporting_ids"):
        bounds(file, open_index(tmp_path / "index"), titles, [1])
