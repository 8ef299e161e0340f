"""Gates, verification, and one whole game played by scripts."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from ssp.agents.agent import Budget, SearchAgent
from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.config import VerifyConfig, load_config
from ssp.engines.scripted import ByteCodec, ScriptedEngine
from ssp.errors import EngineError
from ssp.game.gates import cheap_checks
from ssp.game.metrics import play_seconds, step_metrics, truth_metrics
from ssp.game.reader import AgentReader
from ssp.game.samples import make_samples
from ssp.game.step import Game
from ssp.game.verify import Verifier
from ssp.judges.exact import ExactJudge
from ssp.judges.scripted import ScriptedJudge
from ssp.protocols import Judge
from ssp.records import decode, encode
from ssp.runs.seeds import SeedBag
from ssp.search.static import StaticSearcher
from ssp.types import (
    Doc,
    Episode,
    Hit,
    Outcome,
    PoolEntry,
    Problem,
    Role,
    SearchCall,
    Seed,
    Segment,
    Status,
    Trajectory,
)
from ssp.worlds.facts import Facts
from ssp.worlds.oracle import Oracle
from ssp.worlds.questions import answers, sample_chains, word_question
from ssp.worlds.world import World, WorldSettings

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
    checks = list(cheap_checks(tried, seed, VerifyConfig()))
    assert (checks[-1].gate, checks[-1].outcome) == (gate, outcome)
    assert all(check.outcome is Outcome.PASSED for check in checks[:-1])


def game(
    reader: str,
    solver: Callable[[], str],
    proposer: str = f"<question>{QUESTION}</question>",
    judge: Judge | None = None,
) -> Episode:
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
    config = load_config(overrides=["game.attempts=4", "reward.shape=one_minus_acc", "reward.valid=0.0"])
    judge = judge or ExactJudge()
    played = Game(agent, Verifier(AgentReader(agent), config.verify, judge), config, judge=judge)
    [episode] = asyncio.run(played.play([SEED], 0, 3, [Seed("s2", "Elwick")]))
    return episode


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


def test_a_judge_decides_what_is_not_the_same_to_the_letter() -> None:
    answers = iter(["in Dunford", "Dunford", "Elwick", "Dunford town"])
    kind = ScriptedJudge(lambda question, accepted, said: any(one in said for one in accepted))
    played = game("<answer>the town of Dunford</answer>", lambda: f"<answer>{next(answers)}</answer>", judge=kind)
    assert played.valid
    assert [attempt.correct for attempt in played.attempts] == [True, True, False, True]


def test_a_judge_that_is_out_of_order_decides_nothing_and_trains_nobody() -> None:
    out = ScriptedJudge(lambda question, accepted, said: None)
    undecided = game("<answer>Dunford</answer>", lambda: "<answer>Dunford</answer>", judge=out)
    assert undecided.verdict is not None
    assert undecided.verdict.reason == "rag: the scripted judge is out of order"
    assert not undecided.decided
    assert list(undecided.rewards.values()) == [None]
    moody = ScriptedJudge(lambda question, accepted, said: True if said == "Dunford" else None)
    answers = iter(["Dunford", "Elwick", "Elwick", "Dunford"])
    unjudged = game("<answer>Dunford</answer>", lambda: f"<answer>{next(answers)}</answer>", judge=moody)
    assert [attempt.correct for attempt in unjudged.attempts] == [True, None, None, True]
    assert [error.boundary for error in unjudged.errors] == ["judge", "judge"]
    assert step_metrics([undecided, unjudged])["solver/unjudged"] == 0.5
    assert step_metrics([undecided, unjudged])["undecided"] == 0.5
    samples, _ = make_samples([undecided, unjudged], load_config(), 0, {})
    assert {one.id for one in samples} <= {
        unjudged.proposal.id if unjudged.proposal else "",
        unjudged.solutions[0].id,
        unjudged.solutions[3].id,
    }


def test_the_oracle_measures_what_passed() -> None:
    world = World(WorldSettings(articles=200))
    chain = sample_chains(world, world.train, 1, 1)[0]
    played = game("<answer>Dunford</answer>", lambda: "<answer>Dunford</answer>")
    assert played.problem is not None
    asked = replace(played.problem, question=word_question(world, chain, random.Random(0)))
    true = replace(played, problem=replace(asked, answer=answers(world, chain)[0]))
    false = replace(played, problem=replace(asked, answer="Nobody"))
    rejected = game("<answer>unknown</answer>", lambda: "")
    share = truth_metrics([true, false, rejected], Oracle(Facts.of(world)))
    assert share == {"true": 0.5, f"hops/{played.seed.hops}/true": 0.5}


def test_the_time_of_a_step_is_shared_out_by_who_was_at_it() -> None:
    played = game("<answer>Dunford</answer>", lambda: "<answer>Dunford</answer>")
    assert played.proposal is not None
    solutions = tuple(replace(one, seconds=2.0) for one in played.solutions)
    timed = replace(
        played,
        proposal=replace(played.proposal, seconds=3.0),
        solutions=solutions,
        seconds={"verify": 1.0, "solve": 9.0},
    )
    total = 3.0 + 1.0 + 2.0 * len(solutions)
    assert play_seconds([timed], 7.0) == pytest.approx(
        {
            "seconds/propose": 7.0 * 3.0 / total,
            "seconds/verify": 7.0 / total,
            "seconds/solve": 7.0 * 2.0 * len(solutions) / total,
        }
    )
    assert play_seconds([], 7.0) == {}


def _says(text: str) -> SearchAgent:
    codec = ByteCodec()
    engine = ScriptedEngine(codec, lambda _: text)
    return SearchAgent(engine, codec, StaticSearcher({}), PROTOCOLS["search-r1"], prompt_set("en"), Budget())


def test_somebody_else_may_propose() -> None:
    config = load_config(overrides=["game.proposer=start", "game.roles=solver", "game.attempts=2"])
    answers, asks = _says("<answer>Dunford</answer>"), _says(f"<question>{QUESTION}</question>")
    rules = VerifyConfig(min_searches=0, as_many_as_hops=False)
    frozen = Game(answers, Verifier(AgentReader(answers), rules), config, asks)
    [episode] = asyncio.run(frozen.play([SEED], 0, 0))
    assert episode.problem is not None
    assert episode.problem.question == QUESTION
    assert [one.correct for one in episode.attempts] == [True, True]
    samples, _ = make_samples([episode], config, 0, {})
    assert not any(one.role is Role.PROPOSER for one in samples)


def test_attempts_in_an_outage_are_not_judged() -> None:
    def down() -> str:
        raise EngineError("out of memory")

    played = game("<answer>Dunford</answer>", down)
    assert [attempt.correct for attempt in played.attempts] == [None] * 4
    assert set(played.rewards.values()) == {None}


def many(fill: str = "none", seeds: int = 3, rounds: int = 3) -> list[Episode]:
    """A step in which no question passes verification, with the given way of filling up."""

    def reply(text: str) -> str:
        if "Documents:" in text:
            return "<answer>unknown</answer>"
        done = "</information>" in text.rpartition("<assistant>")[2]
        return f"<question>{QUESTION}</question>" if done else "<search>q</search>"

    codec = ByteCodec()
    engine = ScriptedEngine(codec, reply)
    agent = SearchAgent(engine, codec, StaticSearcher({"q": [MIRA]}), PROTOCOLS["search-r1"], prompt_set("en"))
    settings = [f"game.seeds={seeds}", f"pool.fill={fill}", f"pool.resample_rounds={rounds}", "game.hops=[1.0]"]
    config = load_config(overrides=settings)
    bag = SeedBag([Seed(f"s{n}", f"Dunford {n}") for n in range(20)], config.game.hops, 0)
    return asyncio.run(
        Game(agent, Verifier(AgentReader(agent), config.verify), config).step(bag.of_step(4), (), 4, key=1)
    )


def test_resampling_draws_other_seeds_a_bounded_number_of_times() -> None:
    played = many(fill="resample")
    assert len({episode.seed.id for episode in played}) == len(played) == 9
    assert len(many(fill="none")) == 3


def test_a_step_repeats_exactly() -> None:
    def facts(episodes: list[Episode]) -> list[tuple[object, ...]]:
        return [(one.id, one.seed, one.verdict, one.rewards) for one in episodes]

    assert facts(many(fill="resample")) == facts(many(fill="resample"))


def test_pooled_problems_fill_the_batch_and_train_the_solver_only() -> None:
    problem = Problem("p9", "s9", QUESTION, "Dunford", "t9", 1, evidence=(MIRA,))
    codec = ByteCodec()
    engine = ScriptedEngine(codec, lambda _: "<answer>Dunford</answer>")
    agent = SearchAgent(engine, codec, StaticSearcher({}), PROTOCOLS["search-r1"], prompt_set("en"))
    config = load_config(overrides=["game.seeds=2", "game.hops=[1.0]", "game.attempts=3", "pool.fill=reset"])
    bag = SeedBag([Seed("s1", "A"), Seed("s2", "B")], config.game.hops, 0)
    pool = (PoolEntry(problem, added_step=1, last_step=1),)
    game = Game(agent, Verifier(AgentReader(agent), config.verify), config)
    episodes = asyncio.run(game.step(bag.of_step(5), pool, 5, key=1))
    assert [episode.pooled for episode in episodes] == [False, False, True]
    assert list(episodes[2].rewards.values()) == [1.0] * 3
    assert episodes[2].proposal is None
    samples, _ = make_samples(episodes, config, 5, {})
    assert samples == [], "equal rewards teach nothing"


def test_who_learns_from_what() -> None:
    answers = iter(["Dunford", "Elwick", "Elwick", "Elwick"])
    played = game("<answer>Dunford</answer>", lambda: f"<answer>{next(answers)}</answer>")
    both = load_config(overrides=["credit.proposer=reinforce", "credit.deviation=false", "credit.proposer_weight=2.0"])
    samples, _ = make_samples([played], both, 0, {})
    assert [one.role for one in samples] == [Role.PROPOSER, *[Role.SOLVER] * 4]
    assert [max(one.advantages, key=abs) for one in samples] == [1.5, 0.75, -0.25, -0.25, -0.25]
    for one in samples:
        assert all((advantage != 0.0) == masked for advantage, masked in zip(one.advantages, one.mask, strict=True))
    solver = load_config(overrides=["game.roles=solver"])
    assert {one.role for one in make_samples([played], solver, 0, {})[0]} == {Role.SOLVER}
    first = load_config(overrides=["game.solver_first=2", "credit.proposer=reinforce"])
    assert {one.role for one in make_samples([played], first, 1, {})[0]} == {Role.SOLVER}
    assert {one.role for one in make_samples([played], first, 2, {})[0]} == {Role.SOLVER, Role.PROPOSER}


def test_what_is_undecided_trains_nobody() -> None:
    def down() -> str:
        raise EngineError("out of memory")

    played = game("<answer>Dunford</answer>", down)
    config = load_config(overrides=["credit.proposer=reinforce", "credit.solver=reinforce"])
    assert make_samples([played], config, 0, {})[0] == []
    assert len(played.errors) == 4


GREEN = Doc("d3", "Oakmere", "The mayor of Oakmere is Mira Dolven.")
READERS: list[tuple[str, Callable[[str], bool], Outcome]] = [
    ("verify.deep=true", lambda shown: "was born" in shown and "The mayor" in shown, Outcome.PASSED),
    ("verify.deep=true", lambda shown: "was born" in shown, Outcome.REJECTED),
    ("verify.closed_book=true", lambda shown: "was born" in shown, Outcome.PASSED),
    ("verify.closed_book=true", lambda shown: True, Outcome.REJECTED),
    ("verify.necessary=true", lambda shown: "was born" in shown, Outcome.PASSED),
    ("verify.necessary=true", lambda shown: True, Outcome.REJECTED),
    ("verify.unique=2", lambda shown: True, Outcome.PASSED),
    ("verify.unique=2", lambda shown: "Elwick" in shown, Outcome.REJECTED),
]


@pytest.mark.parametrize(("setting", "knows", "outcome"), READERS)
def test_gates_that_take_a_reader(setting: str, knows: Callable[[str], bool], outcome: Outcome) -> None:
    """What the reader knows depends on what it is shown: all documents and noise (rag), or less."""
    codec = ByteCodec()
    engine = ScriptedEngine(codec, lambda text: f"<answer>{'Dunford' if knows(text) else 'unknown'}</answer>")
    reader = SearchAgent(engine, codec, StaticSearcher({}), PROTOCOLS["search-r1"], prompt_set("brief"))
    calls = (SearchCall("Dunford", (Hit(MIRA, 1, 1.0),), 0.0), SearchCall("Mira", (Hit(GREEN, 1, 1.0),), 0.0))
    tried = Trajectory(
        "t1",
        Role.PROPOSER,
        (Segment.prompt("…", (1,)),),
        calls,
        Status.FINISHED,
        0,
        "Where was the mayor of Oakmere born?",
    )
    config = load_config(overrides=["verify.deep=false", "verify.unique=0", setting]).verify
    _, verdict = asyncio.run(
        Verifier(AgentReader(reader), config).verify(tried, Seed("s1", "Dunford", hops=2), [OTHER], 0)
    )
    assert verdict.checks[-1].gate == setting.partition("=")[0].removeprefix("verify.").replace("_", "-")
    assert verdict.outcome is outcome, verdict
