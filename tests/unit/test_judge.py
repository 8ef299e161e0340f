"""The judge that asks a model: strictness, failures, memory, and how it is held against known cases."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.config import JudgeConfig, load_config
from ssp.errors import ConfigError, DataError, JudgeError
from ssp.judges.calibration import calibrate, calibration_cases
from ssp.judges.exact import ExactJudge
from ssp.judges.open import open_judge
from ssp.judges.scripted import ScriptedJudge
from ssp.judges.verdicts import decide_plainly, parse_verdict
from tests.judge_server import JudgeServer, llm_judge

CASE = ("Where was Mira Dolven born?", "Dunford", "She was born in Dunford.")


@pytest.fixture(scope="module")
def process() -> Iterator[JudgeServer]:
    running = JudgeServer()
    yield running
    running.kill()


@pytest.fixture
def server(process: JudgeServer) -> JudgeServer:
    process.tell()
    return process


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Verdict: right", True),
        ("Both name one town.\n\n**Verdict: WRONG**\n", False),
        ("verdict - right.", True),
        ('{"verdict": "wrong"}', False),
        ('Reason.\n```json\n{"reason": "same", "verdict": "Right"}\n```', True),
        ("<think>Verdict: wrong? Hm.</think>\nVerdict: right", True),
        ("Correct", None),
        ("Incorrect", None),
        ("right", None),
        ("That is right.", None),
        ("Verdict: not right", None),
        ("Verdict: rightish", None),
        ("Verdict: right\nor maybe not", None),
        ("Verdict: right or wrong", None),
        ("Verdict: wrong\nVerdict: right", None),
        ('{"verdict": "correct"}', None),
        ('{"verdict": true}', None),
        ('{"verdict": ["right"]}', None),
        ('["verdict", "right"]', None),
        ("", None),
    ],
)
def test_a_verdict_is_one_of_two_words_in_its_place(reply: str, verdict: bool | None) -> None:
    assert parse_verdict(reply) is verdict


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    assert parse_verdict(text) in (True, False, None)
    assert parse_verdict(f"{text}\nVerdict: wrong") is not True
    assert parse_verdict(f"Verdict: wrong\n{text}") is not True or "verdict" in text.lower()


def test_what_is_decided_without_a_model_is_decided_rightly() -> None:
    cases = calibration_cases()
    plain = {case: decide_plainly(case.answers, case.prediction) for case in cases}
    assert [case for case, verdict in plain.items() if verdict is not None and verdict is not case.right] == []
    assert sum(verdict is not None for verdict in plain.values()) >= 20


def test_the_cases_are_many_different_and_of_both_kinds() -> None:
    cases = calibration_cases()
    assert len(cases) >= 150
    assert len(set(cases)) == len(cases)
    assert 0.3 < sum(case.right for case in cases) / len(cases) < 0.7
    assert sum("一" <= character <= "龥" for case in cases for character in case.question) > 100


async def test_calibration_counts_both_mistakes_and_leaves_outages_out() -> None:
    cases = calibration_cases()
    exact = await calibrate(ExactJudge(), cases)
    assert exact.judged == len(cases)
    assert exact.wrongly_passed == []
    assert exact.agreed + len(exact.wrongly_refused) == len(cases)
    kind = await calibrate(ScriptedJudge(lambda question, answers, prediction: True), cases)
    assert len(kind.wrongly_passed) == sum(not case.right for case in cases)
    assert kind.by_kind["alias"] == (12, 12)
    silent = await calibrate(ScriptedJudge(lambda question, answers, prediction: None), cases)
    assert (silent.judged, silent.agreed) == (0, 0)


async def test_asks_as_it_is_told_and_counts_what_it_used(server: JudgeServer) -> None:
    judge = llm_judge(server.url, "a-model", token="secret", tokens=99)
    assert await judge.same(*CASE)
    assert not await judge.same(CASE[0], CASE[1], "She was born in Elwick.")
    [first, second] = server.seen
    assert first["key"] == "Bearer secret"
    assert (first["body"]["model"], first["body"]["temperature"], first["body"]["max_tokens"]) == ("a-model", 0.0, 99)
    assert "She was born in Dunford." in first["body"]["messages"][0]["content"]
    assert judge.usage == {"asked": 2, "remembered": 0, "prompt_tokens": 200, "completion_tokens": 14}
    await judge.close()
    assert second["body"]["model"] == "a-model"


async def test_a_json_verdict_will_do(server: JudgeServer) -> None:
    server.tell("json")
    assert await llm_judge(server.url, "m").same(CASE[0], "Dunford", "the old town")


async def test_what_needs_no_model_is_not_asked(server: JudgeServer) -> None:
    judge = llm_judge(server.url, "m")
    assert await judge.same(CASE[0], "Dunford", "dunford")
    assert not await judge.same(CASE[0], "Dunford", "I do not know.")
    assert server.seen == []


@pytest.mark.parametrize("failure", ["status-500", "status-429", "drop", "delay"])
async def test_what_passes_is_tried_again(server: JudgeServer, failure: str) -> None:
    server.tell(failure, failure)
    assert await llm_judge(server.url, "m", timeout=0.5).same(*CASE)
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("garbage", "not JSON"),
        ("odd", "unknown form"),
        ("status-401", "refused: status 401"),
        ("incorrect", "no verdict"),
        ("not-right", "no verdict"),
        ("hedged", "no verdict"),
        ("both", "no verdict"),
        ("cut", "did not come to an end"),
    ],
)
async def test_no_verdict_is_no_score(server: JudgeServer, order: str, why: str) -> None:
    server.tell(order)
    with pytest.raises(JudgeError, match=why):
        await llm_judge(server.url, "m").same(*CASE)


async def test_a_service_that_is_gone_is_named() -> None:
    gone = JudgeServer()
    gone.kill()
    with pytest.raises(JudgeError, match=r"chat/completions did not answer after 2 tries"):
        await llm_judge(gone.url, "m", attempts=2).same(*CASE)


async def test_a_verdict_is_remembered_and_a_failure_is_not(server: JudgeServer, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "judge.sqlite"
    server.tell("incorrect")
    judge = llm_judge(server.url, "m", cache=file)
    with pytest.raises(JudgeError):
        await judge.same(*CASE)
    assert await judge.same(*CASE)
    await judge.close()
    again = llm_judge(server.url, "m", cache=file)
    assert await again.same(*CASE)
    assert again.usage["remembered"] == 1
    assert await llm_judge(server.url, "another", cache=file).same(*CASE)
    assert len(server.seen) == 3


async def test_the_same_is_asked_once_at_a_time(server: JudgeServer, tmp_path: Path) -> None:
    judge = llm_judge(server.url, "m", cache=tmp_path / "judge.sqlite")
    assert all(await asyncio.gather(*(judge.same(*CASE) for _ in range(20))))
    assert len(server.seen) == 1


async def test_no_more_at_once_than_allowed(server: JudgeServer) -> None:
    server.tell(*["delay"] * 4)
    judge = llm_judge(server.url, "m", concurrency=2)
    began = time.monotonic()
    await asyncio.gather(*(judge.same(CASE[0], "Dunford", f"Dunford, house {number}") for number in range(4)))
    assert time.monotonic() - began > 1.9


def test_a_file_that_is_no_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "judge.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(DataError, match="not usable as a judge's memory"):
        llm_judge("http://127.0.0.1:1/v1", "m", cache=tmp_path / "judge.sqlite")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: load_config(overrides=["judge.kind=llm"]), "needs judge.url=ADDRESS and judge.model=NAME"),
        (lambda: llm_judge("ftp://x", "m"), "should begin with http"),
        (
            lambda: open_judge(JudgeConfig(kind="llm", url="http://x", model="m", key_variable="SSP_NOT_SET_ANYWHERE")),
            "SSP_NOT_SET_ANYWHERE, a variable that is not set",
        ),
    ],
)
def test_mistakes_get_one_line(make: Callable[[], object], why: str) -> None:
    with pytest.raises((ConfigError, JudgeError), match=why):
        make()


def test_the_key_comes_from_the_variable(monkeypatch: pytest.MonkeyPatch, server: JudgeServer) -> None:
    monkeypatch.setenv("JUDGE_KEY", "from-the-variable")
    judge = open_judge(JudgeConfig(kind="llm", url=server.url, model="m", key_variable="JUDGE_KEY", cache=None))
    assert asyncio.run(judge.same(*CASE))
    assert server.seen[0]["key"] == "Bearer from-the-variable"
