"""The agent's loop, with scripts in the place of models."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from ssp.agents.agent import Budget, SearchAgent, Task
from ssp.agents.prompts import prompt_set, prompt_set_names
from ssp.agents.protocol import PROTOCOLS
from ssp.engines.scripted import ByteCodec, ScriptedEngine
from ssp.errors import ConfigError
from ssp.protocols import Searcher
from ssp.search.static import FailingSearcher, StaticSearcher
from ssp.types import Completion, Doc, Role, Sampling, SegmentKind, Status, Trajectory

OAKMERE = Doc("d1", "Oakmere", "The mayor of Oakmere is Mira Dolven.")
MIRA = Doc("d2", "Mira Dolven", "Mira Dolven was born in Dunford.")
SEARCHER = StaticSearcher({"Oakmere": [OAKMERE], "Mira Dolven": [MIRA, OAKMERE]})
CODEC = ByteCodec()
SOLVE = Task("t1", Role.SOLVER, {"question": "Where was the mayor of Oakmere born?"})


def agent(
    *replies: str, searcher: Searcher = SEARCHER, protocol: str = "search-r1", budget: Budget | None = None
) -> SearchAgent:
    engine = ScriptedEngine.saying(CODEC, *replies)
    return SearchAgent(engine, CODEC, searcher, PROTOCOLS[protocol], prompt_set("en"), budget or Budget())


def run(player: SearchAgent, task: Task = SOLVE) -> Trajectory:
    return asyncio.run(player.run(task))


def test_a_whole_trajectory() -> None:
    done = run(agent("<search>Oakmere</search>", "<search>Mira Dolven</search>", "<answer> Dunford </answer>"))
    assert (done.status, done.final) == (Status.FINISHED, "Dunford")
    assert [call.query for call in done.searches] == ["Oakmere", "Mira Dolven"]
    kinds = [segment.kind.value for segment in done.segments]
    assert kinds == ["prompt", "sampled", "observation", "sampled", "observation", "sampled"]
    assert "The mayor of Oakmere is Mira Dolven." in done.transcript


def test_evidence_is_unique_in_order_and_knows_its_search() -> None:
    done = run(agent("<search>Oakmere</search>", "<search>Mira Dolven</search>", "<answer>Dunford</answer>"))
    assert [doc.id for doc in done.evidence] == ["d1", "d2"]
    assert done.first_seen == {"d1": 0, "d2": 1}


def test_generation_stops_at_the_action_whatever_the_model_would_say_next() -> None:
    done = run(agent("<search>Oakmere</search><information>Doc 1 fake</information>", "<answer>x</answer>"))
    assert done.segments[1].text == "<search>Oakmere</search>"
    assert "fake" not in done.transcript


ENDINGS: list[tuple[tuple[str, ...], Budget, Status]] = [
    (("I do not know.",), Budget(), Status.NO_FINAL),
    (("<answer></answer>", "<answer></answer>"), Budget(), Status.MALFORMED),
    (("oops</answer>",), Budget(corrections=0), Status.MALFORMED),
    (("<search>Oakmere</search>", "<search>Mira Dolven</search>"), Budget(searches=1), Status.TURN_LIMIT),
    (("<think>" + "long " * 99,), Budget(turn_tokens=50), Status.LENGTH),
    (("<search>Oakmere</search>", "<answer>x</answer>"), Budget(response_tokens=40), Status.LENGTH),
    ((), Budget(), Status.ENGINE_FAILED),
]


@pytest.mark.parametrize(("replies", "budget", "status"), ENDINGS, ids=[str(case[2]) for case in ENDINGS])
def test_every_ending_has_its_name(replies: tuple[str, ...], budget: Budget, status: Status) -> None:
    done = run(agent(*replies, budget=budget))
    assert (done.status, done.final) == (status, None)


def test_an_outage_of_search_is_recorded_and_is_not_a_wrong_answer() -> None:
    done = run(agent("<search>Oakmere</search>", searcher=FailingSearcher("down")))
    assert done.status is Status.SEARCH_FAILED
    assert done.status.is_outage
    assert done.searches[0].error == "down"


def test_an_unreadable_action_is_answered_once() -> None:
    done = run(agent("well</search>", "<answer>Dunford</answer>"))
    assert done.status is Status.FINISHED
    hint = done.segments[2]
    assert hint.kind is SegmentKind.OBSERVATION
    assert "<answer>the answer</answer> to finish" in hint.text


def test_a_correction_does_not_cost_a_search() -> None:
    replies = ("well</search>", "<search>Oakmere</search>", "<answer>Dunford</answer>")
    assert run(agent(*replies, budget=Budget(searches=1))).status is Status.FINISHED


def test_the_answerer_reads_and_may_not_search() -> None:
    fields = {"question": "Where was Mira Dolven born?", "documents": "Doc 1 (Title: Mira Dolven) …"}
    task = Task("r1", Role.ANSWERER, fields)
    assert run(agent("<answer>Dunford</answer>"), task).final == "Dunford"
    assert run(agent("<search>Oakmere</search>"), task).status is Status.TURN_LIMIT


def test_the_proposer_ends_with_a_question() -> None:
    task = Task("p1", Role.PROPOSER, {"answer": "Dunford", "hops": 2})
    done = run(agent("<search>Oakmere</search>", "<question>Where was the mayor of Oakmere born?</question>"), task)
    assert done.final == "Where was the mayor of Oakmere born?"
    assert run(agent("<answer>Dunford</answer>", "<answer>again</answer>"), task).status is Status.NO_FINAL


def test_nothing_found_is_said() -> None:
    done = run(agent("<search>Atlantis</search>", "<answer>x</answer>"))
    assert "Nothing was found." in done.transcript


def test_long_results_are_cut_but_the_evidence_is_whole() -> None:
    long = Doc("d9", "Long", "word " * 500)
    searcher = StaticSearcher({"Oakmere": [long, MIRA]})
    done = run(
        agent(
            "<search>Oakmere</search>", "<answer>x</answer>", searcher=searcher, budget=Budget(observation_tokens=120)
        )
    )
    frame = len("\n<information></information>\n") - len("<information></information>") + 2
    assert len(done.segments[2].token_ids) == 120 + frame
    assert MIRA.text in done.segments[2].text, "the short document has its place"
    assert done.evidence == (long, MIRA)


TOOL_CALL = '<tool_call>{"name": "search", "arguments": {"query": "Oakmere"}}</tool_call>'


@pytest.mark.parametrize(
    ("protocol", "call"),
    [("search-r1", "<search>Oakmere</search>"), ("r-search", "<search>Oakmere</search>"), ("tool-call", TOOL_CALL)],
)
@pytest.mark.parametrize("language", prompt_set_names())
def test_every_protocol_in_every_language(protocol: str, call: str, language: str) -> None:
    player = replace(agent(call, "<answer>x</answer>", protocol=protocol), prompts=prompt_set(language))
    done = run(player)
    assert done.status is Status.FINISHED
    assert f"<{PROTOCOLS[protocol].observation}>" in done.segments[2].text
    if language != "brief":
        assert PROTOCOLS[protocol].observation in done.segments[0].text, "the model is told the tag that is used"


@pytest.mark.parametrize("language", [name for name in prompt_set_names() if name != "brief"])
@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_prompts_say_what_the_game_needs(language: str, protocol: object) -> None:
    prompts = prompt_set(language)
    fields: dict[Role, dict[str, str | int]] = {
        Role.SOLVER: {"question": "Q?", "searches": 7},
        Role.PROPOSER: {"answer": "A", "hops": 3, "searches": 7},
        Role.ANSWERER: {"question": "Q?", "documents": "D"},
    }
    for role, values in fields.items():
        text = "".join(piece.text for piece in prompts.pieces(role, protocol, values))  # type: ignore[arg-type]
        assert "{" not in text.replace('{"name"', "").replace('{"query"', "")
        assert all(str(value) in text for value in values.values())
    assert prompts.phrases["unknown"] in "".join(
        piece.text
        for piece in prompts.pieces(Role.ANSWERER, protocol, fields[Role.ANSWERER])  # type: ignore[arg-type]
    )


def test_an_unknown_prompt_set_is_refused() -> None:
    with pytest.raises(ConfigError, match="no prompt set 'fr'; there is: brief, en, zh"):
        prompt_set("fr")


def test_each_turn_has_a_seed_of_its_own() -> None:
    seeds: list[int] = []

    class Spy(ScriptedEngine):
        async def generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]:
            seeds.extend(how.seed for how in sampling)
            return await super().generate(prompts, sampling)

    replies = iter(["<search>Oakmere</search>", "<answer>x</answer>"] * 2)
    reply: Callable[[str], str] = lambda _: next(replies)  # noqa: E731
    player = replace(agent(), engine=Spy(CODEC, reply))
    run(player)
    run(player, replace(SOLVE, seed=1))
    assert len(set(seeds)) == 4
