"""What every judge must do."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from ssp.judges.exact import ExactJudge
from ssp.judges.scripted import ScriptedJudge
from ssp.protocols import Judge
from ssp.text import exact_match
from tests.judge_server import JudgeServer, llm_judge

IMPLEMENTATIONS = ["exact", "llm", "scripted"]
QUESTION = "Where was Mira Dolven born?"


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    running = JudgeServer()
    yield running
    running.kill()


@pytest_asyncio.fixture(params=IMPLEMENTATIONS)
async def judge(request: pytest.FixtureRequest, server: JudgeServer) -> AsyncIterator[Judge]:
    made: Judge
    if request.param == "exact":
        made = ExactJudge()
    elif request.param == "llm":
        made = llm_judge(server.url, "model")
    else:
        made = ScriptedJudge(lambda question, answers, prediction: exact_match(prediction, answers))
    yield made
    await made.close()


async def test_the_answer_as_it_stands_is_right(judge: Judge) -> None:
    assert await judge.same(QUESTION, "Dunford", "the Dunford.")


async def test_something_else_is_wrong(judge: Judge) -> None:
    assert not await judge.same(QUESTION, "Dunford", "Oakmere")


async def test_any_of_several_answers_will_do(judge: Judge) -> None:
    assert await judge.same(QUESTION, ["Dunford", "Dunford upon Velbeck"], "Dunford upon Velbeck")


@pytest.mark.parametrize("said", ["", "  ", "I don't know", "Dunford or Oakmere", "Oakmere, Dunford, Elwick, Harrow"])
async def test_nothing_a_refusal_and_a_choice_are_wrong(judge: Judge, said: str) -> None:
    assert not await judge.same(QUESTION, "Dunford", said)


async def test_chinese(judge: Judge) -> None:
    assert await judge.same("哪所大学？", ["北京大学"], "北京 大学。")
    assert not await judge.same("哪所大学？", ["北京大学"], "清华大学")
