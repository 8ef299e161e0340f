"""Gates, verification, and one whole game played by scripts."""

import asyncio
from collections.abc import Callable

import pytest

from ssp.agents.agent import Budget, SearchAgent
from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.engines.scripted import ByteCodec, ScriptedEngine
from ssp.errors import EngineError
from ssp.game.gates import Bounds, cheap_checks
from ssp.game.play import play_game
from ssp.records import decode, encode
from ssp.search.static import StaticSearcher
from ssp.types import Doc, Episode, Hit, Outcome, Role, SearchCall, Seed, Segment, Status, Trajectory

MIRA = Doc("d1", "Mira Dolven", "Mira Dolven was born in Dunford.")
OTHER = Doc("d2", "Tova Navan", "Tova Navan was born in Elwick.")
SEED = Seed("s1", "Dunford", hops=1)
QUESTION = "In which town was Mira Dolven born?"


def proposal(final: str | None, *queries: str, status: Status = Status.FINISHED) -> Trajectory:
    calls = tuple(SearchCall(query, (Hit(MIRA, 1, 1.0),), 0.0) for query in queries)
    segments = (Segment.prompt("…", (1,)),)
    return Trajectory("t1", Role.PROPOSER, segments, calls, status, 0, final)


CASES: list[tuple[Trajectory, Seed, str, Outcome]] = [
    (proposal(QUESTION, "Mira"), SEED, "leak", Outcome.PASSED),
    (proposal(None, "Mira", status=Status.NO_FINAL), SEED, "format", Outcome.REJECTED),
    (proposal("Where?", "Mira"), SEED, "format", Outcome.REJECTED),
    (proposal("word " * 200, "Mira"), SEED, "format", Outcome.REJECTED),
    (proposal("米拉·多尔文出生在哪座城市？", "米拉"), SEED, "leak", Outcome.PASSED),
    (proposal(QUESTION), SEED, "searched", Outcome.REJECTED),
    (proposal(QUESTION, "Mira", " mira "), Seed("s1", "Dunford", hops=2), "searched", Outcome.REJECTED),
    (proposal("Is Dunford the town where Mira was born?", "Mira"), SEED, "leak", Outcome.REJECTED),
    (proposal(QUESTION, "Mira"), Seed("s1", "1843", aliases=("Mira Dolven",)), "leak", Outcome.REJECTED),
    (proposal(None, "Mira", status=Status.SEARCH_FAILED), SEED, "format", Outcome.UNDECIDED),
]


@pytest.mark.parametrize(("tried", "seed", "gate", "outcome"), CASES)
def test_cheap_gates(tried: Trajectory, seed: Seed, gate: str, outcome: Outcome) -> None:
    checks = list(cheap_checks(tried, seed, Bounds()))
    assert (checks[-1].gate, checks[-1].outcome) == (gate, outcome)
    assert all(check.outcome is Outcome.PASSED for check in checks[:-1])


def game(reader: str, solver: Callable[[], str], proposer: str = f"<question>{QUESTION}</question>") -> Episode:
    """A game in which each role says what it is told to."""

    def reply(text: str) -> str:
        if "Documents:" in text:
            return reader
        if "Write a question" in text:
            return proposer if "</information>" in text.rpartition("<assistant>")[2] else "<search>q</search>"
        return solver()

    codec = ByteCodec()
    searcher = StaticSearcher({"q": [MIRA]})
    agent = SearchAgent(
        ScriptedEngine(codec, reply), codec, searcher, PROTOCOLS["search-r1"], prompt_set("en"), Budget()
    )
    return asyncio.run(play_game(agent, SEED, [Seed("s2", "Elwick")], key=3, attempts=4))


def test_a_whole_game() -> None:
    answers = iter(["Dunford", "the Dunford", "Elwick", "nowhere"])
    played = game("<answer>Dunford</answer>", lambda: f"<answer>{next(answers)}</answer>")
    assert played.valid
    assert [attempt.correct for attempt in played.attempts] == [True, True, False, False]
    assert played.proposal is not None
    assert played.rewards[played.proposal.id] == 0.5
    assert decode(Episode, encode(played)) == played


def test_a_question_that_the_reader_can_not_answer_is_not_played() -> None:
    played = game("<answer>unknown</answer>", lambda: "<answer>Dunford</answer>")
    assert played.verdict is not None
    assert played.verdict.reason == "rag: the reader answered 'unknown'"
    assert played.attempts == ()
    assert list(played.rewards.values()) == [0.0]


def test_attempts_in_an_outage_are_not_judged() -> None:
    def down() -> str:
        raise EngineError("out of memory")

    played = game("<answer>Dunford</answer>", down)
    assert [attempt.correct for attempt in played.attempts] == [None] * 4
    assert set(played.rewards.values()) == {None}
