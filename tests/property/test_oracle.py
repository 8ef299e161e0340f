"""The oracle is right whenever it answers, and refuses what it can't be sure of."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssp.rng import python_random
from ssp.worlds.facts import Facts
from ssp.worlds.oracle import Oracle, Truth
from ssp.worlds.questions import Chain, relation_paths, sample_chains, word_question
from ssp.worlds.schema import Relation
from ssp.worlds.world import World, WorldSettings

WORLDS = [World(WorldSettings(articles=300, seed=5, richness=richness)) for richness in (1, 2, 3)]
ORACLES = [Oracle(Facts.of(world)) for world in WORLDS]
PATHS = [[p for hops in (1, 2, 3, 4) for ps in relation_paths(w.schema, hops).values() for p in ps] for w in WORLDS]
VOCABULARY = sorted(
    {word for r in WORLDS[2].schema.relations for q in (*r.questions, *r.phrases) for word in q.split()}
)


def true_answers(world: World, start: int, relations: tuple[Relation, ...]) -> frozenset[str]:
    """Follow the arrays of the world step by step, independent of the oracle's tables."""
    here = {start}
    for relation in relations:
        here = {value for entity in here for value in world.objects(entity, relation.name)}
    return frozenset(world.object_text(relations[-1], value) for value in here)


@st.composite
def asked(draw: st.DrawFn) -> tuple[int, int, tuple[Relation, ...], str]:
    which = draw(st.integers(0, 2))
    world = WORLDS[which]
    path = draw(st.sampled_from(PATHS[which]))
    part = draw(st.sampled_from([world.train, world.island]))
    start = draw(st.sampled_from(part.ranges[path[0].subject]))
    chain = Chain(start, path, (), 0)
    return which, start, path, word_question(world, chain, random.Random(draw(st.integers(0, 999))))


@given(asked())
@settings(max_examples=500)
def test_generated_questions_get_exactly_the_true_answers(case: tuple[int, int, tuple[Relation, ...], str]) -> None:
    which, start, path, question = case
    reading = ORACLES[which].chain(question)
    assert reading is not None, question
    assert reading.answers == true_answers(WORLDS[which], start, path)
    assert reading.relations == tuple(relation.name for relation in path)
    assert reading.start == WORLDS[which].doc_id(start)


@given(asked(), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_small_variations_of_wording_do_not_matter(
    case: tuple[int, int, tuple[Relation, ...], str], rng: random.Random
) -> None:
    which, start, path, question = case
    changes: list[Callable[[str], str]] = [
        lambda q: q.lower(),
        lambda q: q.upper(),
        lambda q: q.rstrip("?"),
        lambda q: q.replace(" ", "  ") + " ",
        lambda q: q.replace("What is", "What's").replace("Who is", "Who's").replace("Where is", "Where's"),
        lambda q: q.replace("hich", "hat"),
        lambda q: q.replace(" is ", " was "),
        lambda q: f"“{q}”",
    ]
    for change in rng.sample(changes, 2):
        question = change(question)
    assert ORACLES[which].answers(question) == true_answers(WORLDS[which], start, path)


@given(asked(), st.randoms(use_true_random=False))
@settings(max_examples=500)
def test_mutated_questions_are_refused_or_answered_truly(
    case: tuple[int, int, tuple[Relation, ...], str], rng: random.Random
) -> None:
    """Drop, add, swap or replace words. What still parses must be answered by the facts of what was parsed."""
    which, _, _, question = case
    words = question.rstrip("?").split()
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(words))
        action = rng.choice(("drop", "add", "swap", "replace"))
        if action == "drop" and len(words) > 1:
            del words[place]
        elif action == "add":
            words.insert(place, rng.choice(VOCABULARY))
        elif action == "swap":
            other = rng.randrange(len(words))
            words[place], words[other] = words[other], words[place]
        else:
            words[place] = rng.choice(VOCABULARY)
    world, oracle = WORLDS[which], ORACLES[which]
    mutated = " ".join(words)
    reading = oracle.chain(mutated)
    if reading is None:
        return
    start = int(reading.start[1:])
    relations = tuple(world.schema.relation(name) for name in reading.relations)
    assert reading.answers == true_answers(world, start, relations)
    again = word_question(world, Chain(start, relations, (), 0), python_random(0, "again"))
    assert oracle.answers(again) == reading.answers
    assert world.name(start).lower() in mutated.lower()


@given(asked(), st.sampled_from(["Zzyzx", "Qwerty Uiop", "Unheard Of"]))
def test_unknown_names_do_not_parse(case: tuple[int, int, tuple[Relation, ...], str], stranger: str) -> None:
    which, start, _, question = case
    assert ORACLES[which].answers(question.replace(WORLDS[which].name(start), stranger)) is None


@given(st.text(max_size=80))
def test_arbitrary_text_does_not_parse(text: str) -> None:
    assert ORACLES[0].answers(text) is None


@pytest.mark.parametrize("which", [0, 1, 2])
def test_every_wording_has_one_reading(which: int) -> None:
    world, oracle = WORLDS[which], ORACLES[which]
    for hops in (1, 2, 3):
        for chain in sample_chains(world, world.train, hops, 300):
            question = word_question(world, chain, python_random(0, question_key(chain)))
            reading = oracle.chain(question)
            assert reading is not None
            assert reading.gold_ids == tuple(world.doc_id(entity) for entity in chain.path)
            assert reading.hops == hops


def question_key(chain: Chain) -> str:
    return f"{chain.start}:{'>'.join(relation.name for relation in chain.relations)}"


def test_nonsense_that_parses_has_no_answer() -> None:
    """The town where a town was born: grammatical, but nothing fits."""
    world = WORLDS[0]
    town = world.name(world.train.ranges["town"][0])
    assert ORACLES[0].answers(f"Where was the town where {town} was born born?") == frozenset()
    assert ORACLES[0].answers(f"Who is the mother of {town}?") == frozenset()


def test_a_degenerate_question_is_refused_quickly() -> None:
    assert ORACLES[0].answers("Who is " + "the mother of " * 5000 + "Nobody?") is None


def test_judgement_tells_unique_from_ambiguous_from_false() -> None:
    world, oracle = WORLDS[0], ORACLES[0]
    companies = world.train.ranges["company"]
    many = next(c for c in companies if len(world.objects(c, "office")) == 3)
    towns = [world.name(town) for town in world.objects(many, "office")]
    question = f"Where does {world.name(many)} have an office?"
    assert oracle.answers(question) == frozenset(towns)
    assert oracle.judge(question, towns[1]) is Truth.AMBIGUOUS
    assert oracle.judge(question, "Nowhere") is Truth.FALSE
    assert oracle.judge("Why?", "x") is Truth.UNKNOWN
    river = world.train.ranges["river"][0]
    length = world.objects(river, "length")[0]
    question = f"How long is {world.name(river)}?"
    for spelling in (f"{length} kilometres", f"{length} kilometers", f"{length} km", f"{length}km", str(length)):
        assert oracle.judge(question, spelling) is Truth.TRUE
