"""Chains of relations, questions that ask for their ends, and the held-out evaluation set.

A chain starts at an entity and follows relations: the mother of Mira Dolven, the town where she was born, the
region of that town. Its last relation is worded as the question, the ones before as nested noun phrases. An
n-hop question needs the articles of the n entities on the way; the answer stands in the last of them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ssp.rng import python_random
from ssp.worlds.schema import Relation, Schema
from ssp.worlds.world import Part, World, value_aliases


@dataclass(frozen=True, slots=True)
class Chain:
    """A start entity, the relations to follow, and the entities on the way (the gold documents, in order)."""

    start: int
    relations: tuple[Relation, ...]
    path: tuple[int, ...]
    answer: int

    @property
    def hops(self) -> int:
        return len(self.relations)


def follow(world: World, start: int, relations: Sequence[Relation]) -> Chain | None:
    """Follow the relations if each has exactly one object and no entity is met twice; None otherwise."""
    path, here = [start], start
    for position, relation in enumerate(relations):
        objects = world.objects(here, relation.name)
        if len(objects) != 1:
            return None
        here = objects[0]
        if position + 1 < len(relations):
            path.append(here)
    entities = path if relations[-1].is_value else [*path, here]
    if len(set(entities)) != len(entities):
        return None
    return Chain(start, tuple(relations), tuple(path), here)


def word_question(world: World, chain: Chain, rng: random.Random) -> str:
    """The chain as a question, in wordings that the generator chooses."""
    return nest(world.schema, chain.relations, world.name(chain.start), rng)


def nest(world_schema: Schema, relations: Sequence[Relation], subject: str, rng: random.Random) -> str:
    """The last relation as the question, the ones before as phrases, one in the other, around the subject."""
    for relation in relations[:-1]:
        subject = rng.choice(world_schema.phrases(relation)).replace("{s}", subject)
    return rng.choice(world_schema.questions(relations[-1])).replace("{s}", subject)


def answers(world: World, chain: Chain) -> list[str]:
    """The answer and its other right spellings."""
    last = chain.relations[-1]
    text = world.object_text(last, chain.answer)
    return [text, *(value_aliases(last.object, chain.answer) if last.is_value else ())]


def relation_paths(world_schema: Schema, hops: int) -> dict[str, list[tuple[Relation, ...]]]:
    """All sequences of relations that fit together, by the name of the last one."""
    paths: list[tuple[Relation, ...]] = [(relation,) for relation in world_schema.relations]
    for _ in range(hops - 1):
        paths = [
            (first, *rest) for rest in paths for first in world_schema.relations if first.object == rest[0].subject
        ]
    by_last: dict[str, list[tuple[Relation, ...]]] = {}
    for path in paths:
        by_last.setdefault(path[-1].name, []).append(path)
    return by_last


def sample_chains(world: World, part: Part, hops: int, count: int) -> list[Chain]:
    """Different chains that begin in the part, in turn for each final relation, until `count` or exhausted."""
    rng = python_random(world.settings.seed, "chains", part.name, hops)
    sources = [_chains_of(world, part, paths, rng) for paths in relation_paths(world.schema, hops).values()]
    chosen: list[Chain] = []
    while sources and len(chosen) < count:
        for source in list(sources):
            chain = next(source, None)
            if chain is None:
                sources.remove(source)
            else:
                chosen.append(chain)
    return chosen[:count]


def _chains_of(
    world: World, part: Part, paths: list[tuple[Relation, ...]], rng: random.Random, patience: int = 400
) -> Iterator[Chain]:
    """Random chains along the given paths, none twice; ends after `patience` vain tries in a row."""
    seen: set[tuple[int, str]] = set()
    vain = 0
    while vain < patience:
        path = rng.choice(paths)
        start = rng.choice(part.ranges[path[0].subject])
        key = (start, ">".join(relation.name for relation in path))
        chain = None if key in seen else follow(world, start, path)
        if chain is None:
            vain += 1
            continue
        vain = 0
        seen.add(key)
        yield chain
