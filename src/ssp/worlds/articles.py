"""The world's encyclopedia: one short article an entity, worded by a derived seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssp.rng import python_random
from ssp.types import Doc
from ssp.worlds.schema import FILLERS, Relation
from ssp.worlds.world import World


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an article, and the relation and objects that it states; none for openings and fillers."""

    sentence: str
    relation: Relation | None = None
    objects: tuple[str, ...] = ()


def article(world: World, entity: int) -> Doc:
    """The article about one entity. It depends on nothing but the world's settings and the entity."""
    text = " ".join(statement.sentence for statement in statements(world, entity))
    return Doc(id=world.doc_id(entity), title=world.name(entity), text=text)


def statements(world: World, entity: int) -> list[Statement]:
    """The article sentence by sentence."""
    rng = python_random(world.facts_seed, "article", entity)
    said = [_state(world, relation, values, rng) for relation, values in world.facts(entity)]
    if world.settings.richness >= 2:
        rng.shuffle(said)
        said = _with_pronouns(world, entity, said)
    if world.settings.richness >= 3:
        said = _with_fillers(world, entity, said, rng)
    name = world.name(entity)
    return [replace(one, sentence=_capitalise(one.sentence.replace("{s}", name))) for one in said]


def _state(world: World, relation: Relation, values: Sequence[int], rng: random.Random) -> Statement:
    objects = tuple(world.object_text(relation, value) for value in values)
    wording = rng.choice(world.schema.sentences(relation))
    return Statement(wording.replace("{o}", join_names(objects)), relation, objects)


def join_names(names: Sequence[str]) -> str:
    """A list as a sentence says it.

    >>> join_names(["Oakmere"]), join_names(["Oakmere", "Dunford", "Elwick"])
    ('Oakmere', 'Oakmere, Dunford and Elwick')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _with_pronouns(world: World, entity: int, said: list[Statement]) -> list[Statement]:
    kind = next(kind for kind in world.schema.kinds if kind.name == world.kind(entity))
    later = (replace(one, sentence=one.sentence.replace("{s}", kind.pronoun)) for one in said)
    return [Statement(kind.opening), *later]


def _with_fillers(world: World, entity: int, said: list[Statement], rng: random.Random) -> list[Statement]:
    for filler in rng.sample(FILLERS, 2):
        other = world.name(rng.choice(world.part_of(entity).entities))
        said.insert(rng.randrange(1, len(said) + 1), Statement(filler.replace("{x}", other)))
    return said


def _capitalise(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
