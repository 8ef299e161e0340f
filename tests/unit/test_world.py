"""The generated world: shape, balance, held-out island, and real retrieval work."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from ssp.errors import ConfigError, DataError
from ssp.search.corpus import read_corpus
from ssp.search.index import build_index, open_index
from ssp.worlds.articles import article
from ssp.worlds.facts import Facts
from ssp.worlds.oracle import canonical
from ssp.worlds.retrieval import check_retrieval
from ssp.worlds.schema import RELATIONS, RICHNESS_LEVELS, schema
from ssp.worlds.world import World, WorldSettings
from ssp.worlds.write import write_world


def rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("richness", RICHNESS_LEVELS)
def test_the_world_is_as_rich_as_promised(richness: int) -> None:
    world_schema = schema(richness)
    assert len(world_schema.kinds) >= 6
    assert len(world_schema.relations) >= 12
    for relation in world_schema.relations:
        assert len(set(world_schema.sentences(relation))) >= 2
        assert len(set(world_schema.questions(relation))) >= 2
    assert any(relation.most > 1 for relation in world_schema.relations)
    assert {"year", "kilometres"} <= {relation.object for relation in world_schema.relations}


def test_wordings_of_different_relations_can_not_be_confused() -> None:
    for forms in ("questions", "phrases"):
        meanings: dict[tuple[str, object], str] = {}
        for relation in RELATIONS:
            for wording in (*getattr(relation, forms), *getattr(relation, f"plain_{forms}")):
                key = (relation.subject, canonical(wording.replace("{s}", "xyz")))
                assert meanings.setdefault(key, relation.name) == relation.name


@pytest.mark.parametrize("articles", [100, 2000, 30_000])
def test_names_are_unique_and_none_is_part_of_another(articles: int) -> None:
    world = World(WorldSettings(articles=articles, seed=1, richness=2))
    names = [world.name(entity) for entity in range(articles)]
    assert len(set(names)) == articles
    by_words = {tuple(name.split()) for name in names}
    for words in by_words:
        parts = {words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)} - {words}
        assert not parts & by_words


def test_some_names_are_twins(small_world: World) -> None:
    names = {small_world.name(entity) for entity in range(len(small_world))}
    vowels = {"a": "o", "e": "u", "i": "y"}
    twins = [n for n in names for i, c in enumerate(n) if c in vowels and n[:i] + vowels[c] + n[i + 1 :] in names]
    assert len(twins) > 0.03 * len(names)


def test_no_link_leads_from_one_part_to_the_other(small_world: World) -> None:
    for part in (small_world.train, small_world.island):
        for relation in small_world.schema.relations:
            _, objects = small_world.links(relation, part)
            if relation.is_value:
                assert all(value % 2 == (part is small_world.island) for value in objects)
            else:
                assert all(entity in part.entities for entity in objects)


def test_facts_make_sense(small_world: World) -> None:
    world = small_world
    for person in world.train.ranges["person"]:
        for mother in world.objects(person, "mother"):
            assert world.objects(mother, "birth_year") < world.objects(person, "birth_year")
    for region in world.train.ranges["region"]:
        (capital,) = world.objects(region, "capital")
        assert world.objects(capital, "region") == (region,)
    rich = World(WorldSettings(articles=600, seed=3, richness=3))
    for part in (rich.train, rich.island):
        for person in part.ranges["person"]:
            for elder in (*rich.objects(person, "mother"), *rich.objects(person, "teacher")):
                assert 8 <= rich.objects(person, "birth_year")[0] - rich.objects(elder, "birth_year")[0] <= 60
        for kind, maker, year in (("book", "author", "published"), ("company", "founder", "founded")):
            for work in part.ranges[kind]:
                age = rich.objects(work, year)[0] - rich.objects(rich.objects(work, maker)[0], "birth_year")[0]
                assert 20 <= age <= 60
        for river in part.ranges["river"]:
            crossed = rich.objects(river, "crosses")
            assert crossed[0] == rich.objects(river, "source")[0]
            assert len(set(crossed)) == len(crossed)
    offices = [len(world.objects(company, "office")) for company in world.train.ranges["company"]]
    assert set(offices) == {1, 2, 3}


def test_articles_state_every_fact_and_no_other_number(small_world: World) -> None:
    for entity in range(0, len(small_world), 7):
        doc = article(small_world, entity)
        for relation, objects in small_world.facts(entity):
            for value in objects:
                assert small_world.object_text(relation, value) in doc.text


def test_questions_are_held_out_and_balanced(world_folder: Path) -> None:
    questions, seeds = rows(world_folder / "questions.jsonl"), rows(world_folder / "seeds.jsonl")
    facts = Facts.load(world_folder)
    by_hops = Counter(row["hops"] for row in questions)
    assert all(by_hops[hops] >= 500 for hops in (1, 2, 3, 4))
    assert len({row["question"] for row in questions}) >= 0.99 * len(questions)
    for hops in (1, 2, 3, 4):
        asked = Counter(row["relations"][-1] for row in questions if row["hops"] == hops)
        assert len(asked) >= 14
        assert max(asked.values()) <= 2.2 * min(asked.values())
    trained = {seed["answer"] for seed in seeds}
    for row in questions:
        assert facts.entities[row["start"]].heldout
        assert all(facts.entities[doc_id].heldout for doc_id in row["supporting_ids"])
        assert len(row["supporting_ids"]) == row["hops"] == len(set(row["supporting_ids"]))
        assert row["answers"][0] not in trained


def test_seeds_can_be_asked_for_with_their_hops(world_folder: Path) -> None:
    seeds = rows(world_folder / "seeds.jsonl")
    counts = Counter(seed["hops"] for seed in seeds)
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 500
    assert {"person", "town", "region", "company", "river", "book", "year", "kilometres"} == {
        seed["meta"]["kind"] for seed in seeds
    }
    assert len({seed["id"] for seed in seeds}) == len(seeds)


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    settings = WorldSettings(articles=300, seed=11, richness=3)
    write_world(settings, tmp_path / "a")
    write_world(settings, tmp_path / "b")
    write_world(WorldSettings(articles=300, seed=12, richness=3), tmp_path / "c")
    for name in ("corpus.jsonl", "seeds.jsonl", "questions.jsonl", "world.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        assert (tmp_path / "a" / name).read_bytes() != (tmp_path / "c" / name).read_bytes()


@pytest.mark.parametrize("richness", RICHNESS_LEVELS)
def test_the_text_is_real_retrieval_work(richness: int, tmp_path: Path) -> None:
    write_world(WorldSettings(richness=richness), tmp_path / "world")
    build_index(read_corpus([tmp_path / "world" / "corpus.jsonl"]), tmp_path / "index")
    check = check_retrieval(tmp_path / "world", open_index(tmp_path / "index"), k=3)
    assert check.by_name >= 0.95
    assert check.by_multi_hop < 0.20


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"seed": 2**63}, "a seed is"),
        ({"seed": -1}, "a seed is"),
        ({"articles": 99}, "at least 100"),
        ({"richness": 4}, "one of 1, 2, 3"),
        ({"heldout": 0.9}, "between"),
    ],
)
def test_impossible_worlds_are_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        WorldSettings(**wrong)


def test_a_broken_world_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="ssp world --out"):
        Facts.load(tmp_path)
    (tmp_path / "world.json").write_text("{")
    with pytest.raises(DataError, match="not valid JSON"):
        Facts.load(tmp_path)
    (tmp_path / "world.json").write_text('{"format": 7}')
    with pytest.raises(DataError, match="not a world of this version"):
        Facts.load(tmp_path)


def test_books_of_a_large_world_are_told_apart_by_many_places() -> None:
    world = World(WorldSettings(articles=20_000))
    places = {world.name(book).rpartition(" of ")[2] for book in world.train.ranges["book"]}
    assert len(places) > 100
