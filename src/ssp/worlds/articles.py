"""The world's encyclopedia: one short article an entity, worded by a derived seed."""

import random
from collections.abc import Sequence

from ssp.rng import python_random
from ssp.types import Doc
from ssp.worlds.schema import FILLERS
from ssp.worlds.world import World


def article(world: World, entity: int) -> Doc:
    """The article about one entity. It depends on nothing but the world's settings and the entity."""
    rng = python_random(world.settings.seed, "article", entity)
    name = world.name(entity)
    sentences = [
        rng.choice(relation.sentences[: world.schema.wordings]).replace(
            "{o}", join_names([world.object_text(relation, value) for value in objects])
        )
        for relation, objects in world.facts(entity)
    ]
    if world.settings.richness >= 2:
        rng.shuffle(sentences)
        sentences = _with_pronouns(world, entity, sentences)
    if world.settings.richness >= 3:
        sentences = _with_fillers(world, entity, sentences, rng)
    text = " ".join(_capitalise(sentence.replace("{s}", name)) for sentence in sentences)
    return Doc(id=world.doc_id(entity), title=name, text=text)


def join_names(names: Sequence[str]) -> str:
    """A list as a sentence says it.

    >>> join_names(["Oakmere"]), join_names(["Oakmere", "Dunford", "Elwick"])
    ('Oakmere', 'Oakmere, Dunford and Elwick')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _with_pronouns(world: World, entity: int, sentences: list[str]) -> list[str]:
    kind = next(kind for kind in world.schema.kinds if kind.name == world.kind(entity))
    return [kind.opening, *(sentence.replace("{s}", kind.pronoun) for sentence in sentences)]


def _with_fillers(world: World, entity: int, sentences: list[str], rng: random.Random) -> list[str]:
    for filler in rng.sample(FILLERS, 2):
        other = world.name(rng.choice(world.part_of(entity).entities))
        sentences.insert(rng.randrange(1, len(sentences) + 1), filler.replace("{x}", other))
    return sentences


def _capitalise(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
