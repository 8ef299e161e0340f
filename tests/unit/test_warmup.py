"""The warm-up's parts: lessons, the model's start, teaching, the cache."""

import json
import random
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
import torch

from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.config import Config, load_config
from ssp.engines.codec import HfCodec
from ssp.engines.models import load_model, save_model
from ssp.errors import DataError
from ssp.search.index import build_index, open_index
from ssp.search.static import StaticSearcher
from ssp.seeds.mining import mine
from ssp.types import Doc
from ssp.warmup.behaviours import read
from ssp.warmup.cloze import ClozeLibrary
from ssp.warmup.kept import dress
from ssp.warmup.lessons import Lesson, Syllabus, Teacher
from ssp.warmup.library import Library
from ssp.warmup.looking import COUNTS, FINDS, GOES_ON, READS, TELLS, Gaze, Look, Marks, looks
from ssp.warmup.model import TinyShape, tiny_model
from ssp.warmup.pretrained import taught_model
from ssp.warmup.teach import Schedule, teach
from ssp.warmup.tiny import warmed_up_model, warmed_up_place
from ssp.warmup.tokenizer import train_tokenizer
from ssp.warmup.world_library import WorldLibrary
from ssp.worlds.articles import article
from ssp.worlds.facts import Facts
from ssp.worlds.oracle import Oracle
from ssp.worlds.world import World, WorldSettings
from tests.models import codec as small_codec
from tests.models import random_model

SETTINGS = WorldSettings(articles=300, seed=4)
CONFIG = load_config(overrides=["world.articles=300", "seed=4"])
NOTES = [
    Doc("1", "Oakmere", "Oakmere is a town. The mayor of Oakmere is Mira Dolven."),
    Doc("2", "Mira Dolven", "Mira Dolven was born in Dunford in 1843. She left early."),
    Doc("3", "Dunford", "Dunford lies on the Velbeck."),
]


@pytest.fixture(scope="module")
def sibling() -> WorldLibrary:
    return WorldLibrary.siblings(SETTINGS, 1)[0]


@pytest.fixture(scope="module")
def codec(sibling: WorldLibrary) -> HfCodec:
    return HfCodec(train_tokenizer(sibling.texts(), 800))


def lessons(library: Library, codec: HfCodec, syllabus: Syllabus, count: int) -> list[Lesson]:
    return list(islice(Teacher([library], dress(CONFIG, codec), syllabus).lessons(0), count))


def test_a_sibling_has_the_names_but_not_the_facts(sibling: WorldLibrary) -> None:
    world = World(SETTINGS)
    oracle = Oracle(Facts.of(world))
    rng = random.Random(0)
    true = 0
    for _ in range(300):
        puzzle = sibling.puzzle(1, rng)
        answers = oracle.answers(puzzle.question)
        assert answers is not None, "the language is the same"
        true += puzzle.answer in answers
    assert true / 300 < 0.2, "facts are drawn anew; a few agree by chance"
    assert {sibling.document(rng).title for _ in range(50)} <= {article(world, e).title for e in range(300)}


def test_puzzles_follow_their_facts(sibling: WorldLibrary) -> None:
    oracle = Oracle(Facts.of(World(SETTINGS, sibling._world.facts_seed)))
    rng = random.Random(1)
    for hops in (1, 2, 3, 4) * 25:
        puzzle = sibling.puzzle(hops, rng)
        assert puzzle.hops == hops
        assert oracle.answers(puzzle.question) == frozenset([puzzle.answer])
        assert sibling.ask(puzzle.facts, rng)[-1] == "?"
        reading = oracle.chain(puzzle.question)
        assert reading is not None
        assert reading.gold_ids == tuple(fact.doc.id for fact in puzzle.facts)


def test_flawed_puzzles_have_no_single_answer(sibling: WorldLibrary) -> None:
    oracle = Oracle(Facts.of(World(SETTINGS, sibling._world.facts_seed)))
    rng = random.Random(2)
    for _ in range(100):
        for puzzle in (sibling.flawed_puzzle(rng), sibling.unsaid(sibling.document(rng), rng)):
            answers = oracle.answers(puzzle.question)
            assert answers is None or len(answers) != 1
            assert puzzle.answer is None


def test_most_flaws_are_tempting(sibling: WorldLibrary) -> None:
    """Asked for a company's mayor, a careless reader answers with its founder; that is what it has to unlearn."""
    schema = sibling._world.schema
    tempting = 0
    for number in range(200):
        doc = sibling.document(random.Random(number))
        kind = sibling._world.kind(int(doc.id[1:]))
        asked = schema.relation(sibling.unsaid(doc, random.Random(number)).facts[0].key)
        tempting += asked.object in {relation.object for relation in schema.of_subject(kind)}
    assert tempting > 120


def test_the_reader_stops_where_the_documents_stop(sibling: WorldLibrary) -> None:
    puzzle = sibling.puzzle(2, random.Random(3))
    both = [fact.doc for fact in puzzle.facts]
    assert f"<answer>{puzzle.answer}</answer>" in read(puzzle, both, "unknown")
    assert "<answer>unknown</answer>" in read(puzzle, both[:1], "unknown")
    assert puzzle.facts[0].note in read(puzzle, both[:1], "unknown")
    assert "is unknown." in read(puzzle, both[:1], "unknown")
    assert read(puzzle, [], "unknown").startswith("<think>2: ")


def test_lessons_are_what_agents_see_and_repeat_exactly(sibling: WorldLibrary, codec: HfCodec) -> None:
    made = lessons(sibling, codec, Syllabus(), 40)
    assert made == lessons(sibling, codec, Syllabus(), 40)
    assert {lesson.kind for lesson in made} == {"reading", "solving", "proposing"}
    opening = codec.encode("<|user|>")
    for lesson in made:
        assert len(lesson.token_ids) == len(lesson.mask)
        assert lesson.token_ids[:1] == opening
        assert not lesson.mask[0]
        assert any(lesson.mask)
        taught = codec.decode([t for t, mine in zip(lesson.token_ids, lesson.mask, strict=True) if mine])
        assert "<information>" not in taught, "an observation is never taught as one's own words"
        assert taught.endswith(("</answer>", "</question>"))


def test_names_are_the_same_tokens_wherever_they_stand(sibling: WorldLibrary, codec: HfCodec) -> None:
    """As a title among others that were found or are to be read, and in a text: a name is looked up by its tokens."""
    docs = [sibling.document(random.Random(number)) for number in range(20)]
    shown = prompt_set("brief").show(tuple(docs))
    together = codec.encode_untrusted("\n".join(shown))
    found = [codec.encode_untrusted(f"{one}\n" if n + 1 < len(shown) else one) for n, one in enumerate(shown)]
    assert together == tuple(token for part in found for token in part), "read as they were found"
    for doc in docs:
        name = codec.encode(f" {doc.title}")
        assert _count(together, name) >= 2, f"{doc.title}: as a title and in its text"


def _count(ids: Sequence[int], part: Sequence[int]) -> int:
    return sum(tuple(ids[n : n + len(part)]) == tuple(part) for n in range(len(ids)))


def test_searches_lean_on_the_question(sibling: WorldLibrary, codec: HfCodec) -> None:
    mark = codec.encode("</search>")[0]

    def searches(hops: tuple[float, ...]) -> float:
        made = lessons(sibling, codec, Syllabus(reading=0, solving=1, proposing=0, hops=hops), 80)
        return sum(sum(t == mark for t in lesson.token_ids) for lesson in made) / len(made)

    assert searches((1.0,)) + 0.5 < searches((0.0, 1.0)) < searches((0.0, 0.0, 1.0)) - 0.5


def test_any_corpus_makes_lessons(tmp_path: Path) -> None:
    build_index(NOTES, tmp_path / "index")
    library = ClozeLibrary(NOTES, [one.answer for one in mine(NOTES)], open_index(tmp_path / "index", compiled=False))
    puzzle = library.puzzle(3, random.Random(0))
    assert [fact.doc.title for fact in puzzle.facts[:2]] == ["Oakmere", "Mira Dolven"]
    own = HfCodec(train_tokenizer(library.texts(), 500))
    made = lessons(library, own, Syllabus(hops=(0.5, 0.5)), 60)
    assert {lesson.kind for lesson in made} == {"reading", "solving", "proposing"}
    told = [own.decode(lesson.token_ids) for lesson in made]
    assert any(puzzle.question in text for text in told for puzzle in [library.puzzle(1, random.Random(1))])
    assert not any("___" in text for text in told), "what is asked for is asked for in words"


def test_a_corpus_without_anything_to_ask_is_refused() -> None:
    with pytest.raises(DataError, match="nothing to make lessons from"):
        ClozeLibrary([Doc("1", "Alone", "Nothing here.")], ["Oakmere"], StaticSearcher({}))


def test_the_fresh_model_can_copy() -> None:
    """The circuit is there from the start: it continues a repeated random text."""
    model = tiny_model(1, 0, torch.ones(800), TinyShape(), seed=0)
    ids = torch.randperm(700, generator=torch.Generator().manual_seed(1))[:80] + 60
    with torch.no_grad():
        said = model(input_ids=torch.cat([ids, ids])[None]).logits[0].argmax(dim=-1)
    assert float((said[80:-1] == ids[1:]).float().mean()) > 0.8
    again = tiny_model(1, 0, torch.ones(800), TinyShape(), seed=0)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_fresh_model_says_again_what_was_found(seed: int) -> None:
    """Common words after a name, and then the name is to be said again: it is likelier than almost any other."""
    vocabulary, common = 900, 100
    rare = torch.ones(vocabulary)
    rare[:common] = 0.0
    model = tiny_model(1, 0, rare, TinyShape(), seed)
    rng = random.Random(0)
    ranks = []
    for _ in range(40):
        name = rng.randrange(common, vocabulary)
        words = rng.sample(range(common), 36)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*words[:30], name, *words[30:]]])).logits[0, -1, common:]
        ranks.append(int((logits > logits[name - common]).sum()))
    assert sum(rank < 8 for rank in ranks) > 15, "by chance it would be none"


def test_the_default_model_has_two_to_five_million_parameters() -> None:
    model = tiny_model(1, 0, torch.ones(2048), TinyShape(), seed=0)
    assert 2e6 < sum(parameter.numel() for parameter in model.parameters()) < 5e6


def test_looks_go_where_a_note_is_copied_from(sibling: WorldLibrary, codec: HfCodec) -> None:
    titles = {sibling.document(random.Random(number)).title for number in range(200)}
    town, other, region = sorted(title for title in titles if len(codec.encode(f" {title}")) == 1)[:3]
    person = min(title for title in titles if len(codec.encode(f" {title}")) == 2)
    given = (
        f" {town}: {town} lies in {region}. The mayor of {town} is {person}.\n"
        f" {region}: The capital of {region} is {town}. The mayor of {other} is {person}.\n"
    )
    proposed = f"<think> {person}, the mayor of {town}. Ask: the mayor of {town}. 1:</think>"
    counted = "<think> 2: The"
    noted = f"{counted} mayor of {town} is"
    said = f"{noted} {person}. 1: The birthplace of {person} is {other}.</think>"
    begin = len(codec.encode(given))
    ids = [*codec.encode(given), *codec.encode(proposed), *codec.encode(said)]
    mayor = ids.index(codec.encode(f" {person}")[0])
    found_town = begin + len(codec.encode(f"<think> {person}, the mayor of"))
    solving = begin + len(codec.encode(proposed))
    count = solving + len(codec.encode("<think> 2")) - 1
    found = looks(ids, [place >= begin for place in range(len(ids))], Marks.of(codec))
    assert [(look.head, codec.decode([ids[look.place]]), look.at) for look in found] == [
        (TELLS, " the", (mayor,)),
        (FINDS, " of", (mayor + 2,)),  # after the mention, from where the town is not far back
        (GOES_ON, " of", (found_town,)),
        (GOES_ON, " of", (found_town + len(codec.encode(f" {town}. Ask: the mayor of")),)),
        (READS, " is", (mayor,)),
        (COUNTS, ".", (count,)),  # two are left
        (GOES_ON, " of", (solving + len(codec.encode(noted)),)),
        (COUNTS, ".", (ids.index(codec.encode(" 1:")[0], count),)),
    ], "and not to the mayor of another town"


def test_the_gaze_is_that_of_the_model(codec: HfCodec) -> None:
    """The share that goes to some places is the one that the model's own attention gives them."""
    model = tiny_model(1, 0, torch.ones(len(codec)), TinyShape(), seed=0)
    model.set_attn_implementation("eager")
    ids = torch.randint(20, 200, (2, 40), generator=torch.Generator().manual_seed(0))
    gaze = Gaze(model)
    with torch.no_grad():
        attention = model(input_ids=ids, output_attentions=True).attentions
        rows = [(Look(FINDS, 30, (3, 7)), Look(READS, 20, (5,))), (Look(TELLS, 39, (0, 39)), Look(GOES_ON, 9, (4,)))]
        loss = gaze.loss(rows)
    gaze.close()
    shares = [
        attention[look.head.layer][n, look.head.number, look.place, list(look.at)].sum()
        for n, row in enumerate(rows)
        for look in row
    ]
    assert loss.item() == pytest.approx(-sum(share.log().item() for share in shares) / 4, rel=1e-4)


def test_teaching_teaches(sibling: WorldLibrary, codec: HfCodec) -> None:
    stage = Syllabus(reading=1, solving=0, proposing=0, hops=(1.0,), questions=6, chains=1, neighbours=0, noise=0)
    torch.manual_seed(0)
    model = tiny_model(1, 0, torch.ones(len(codec)), TinyShape(), seed=0)
    teacher = Teacher([sibling], dress(CONFIG, codec), stage)
    schedule = Schedule(steps=60, stages=(1.0,), batch_tokens=600)
    heard: list[int] = []
    losses = teach(model, [teacher], schedule, Marks.of(codec), 0, lambda _, count: heard.append(count))
    assert sum(heard) == len(losses) == 60
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10])


def test_the_cache_knows_what_the_model_is_made_from(tmp_path: Path) -> None:
    base = load_config(overrides=["warmup.steps=2", "world.articles=200", f"warmup.cache={tmp_path}"])
    first = warmed_up_model(base, tmp_path, lambda *_: None)
    model, codec = load_model(first)
    assert codec.tokenizer.chat_template
    assert model.config.vocab_size == len(codec)

    def forbidden(*_: object) -> None:
        raise AssertionError("it was made before")

    assert warmed_up_model(base, tmp_path, forbidden) == first
    others = ["seed=1", "warmup.steps=3", "world.articles=201", "agent.protocol=r-search", "search.k=2"]
    prints = {warmed_up_place(_with(other, tmp_path), tmp_path) for other in others}
    assert len(prints | {first}) == len(others) + 1


def _with(override: str, cache: Path) -> Config:
    return load_config(overrides=["warmup.steps=2", "world.articles=200", f"warmup.cache={cache}", override])


def test_a_pretrained_model_takes_lessons_from_a_corpus(tmp_path: Path) -> None:
    """A model with random weights stands for it: it gets better at lessons, and is made once."""
    build_index(NOTES, tmp_path / "index")
    save_model(random_model("llama"), small_codec(), tmp_path / "base")
    settings = ["corpus=notes", "warmup.lessons=40", "warmup.learning_rate=3e-3", f"warmup.cache={tmp_path}"]
    config = load_config(overrides=[*settings, "agent.observation_tokens=60", "warmup.batch_tokens=600"])
    taught = taught_model(config, tmp_path / "base", tmp_path / "index", lambda *_: None)
    losses = json.loads((taught / "warmup.json").read_text())["loss"]
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])

    def forbidden(*_: object) -> None:
        raise AssertionError("it was made before")

    assert taught_model(config, tmp_path / "base", tmp_path / "index", forbidden) == taught
    more = config.model_copy(update={"warmup": config.warmup.model_copy(update={"lessons": 2})})
    assert taught_model(more, tmp_path / "base", tmp_path / "index", lambda *_: None) != taught
    save_model(random_model("llama", seed=5), small_codec(), tmp_path / "base")
    assert taught_model(more, tmp_path / "base", tmp_path / "index", lambda *_: None) != taught


def test_every_tag_is_one_token(codec: HfCodec) -> None:
    for protocol in PROTOCOLS.values():
        for tag in protocol.tags:
            assert len(codec.encode(f"<{tag}>")) == len(codec.encode(f"</{tag}>")) == 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_fresh_model_tells_names_apart(seed: int) -> None:
    """Sentences in the same words about different names: it looks into the one with both names, before any training."""
    vocabulary, common = 900, 100
    rare = torch.ones(vocabulary)
    rare[:common] = 0.0
    model = tiny_model(1, 0, rare, TinyShape(), seed)
    rng = random.Random(0)
    right = 0
    for _ in range(60):
        names = rng.sample(range(common, vocabulary), 18)
        first, second, objects = names[:2], names[2:10], names[10:]
        sentences = [[*range(20, 30), first[n % 2], second[n], 11, 12, objects[n], 13] for n in range(8)]
        asked = rng.randrange(8)
        context = [token for sentence in sentences for token in sentence] + [*range(30, 50)] + sentences[asked][:14]
        with torch.no_grad():
            said = int(model(input_ids=torch.tensor([context])).logits[0, -1, common:].argmax()) + common
        right += said == objects[asked]
    assert right > 20, f"{right} of 60; by chance it would be 7"


@pytest.mark.parametrize("richness", [2, 3])
def test_richer_worlds_make_lessons_too(richness: int) -> None:
    [library] = WorldLibrary.siblings(WorldSettings(articles=300, seed=4, richness=richness), 1)
    own = HfCodec(train_tokenizer(library.texts(), 800))
    assert len(lessons(library, own, Syllabus(asking=0.2), 30)) == 30
