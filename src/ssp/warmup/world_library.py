"""Lessons from siblings of the generated world: the same names, but all facts drawn anew.

So the model gets to know the names, as pre-training would teach it words, while nothing that it reads in a lesson is
true in the world that is played in, and in no two siblings is the same thing true: facts have to be read, not known.
The chains of the evaluation questions are in no lesson, since their facts are not.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from ssp.rng import derive, python_random
from ssp.search.index import build_index, open_index
from ssp.types import Doc
from ssp.warmup.library import GAP, Fact, Puzzle
from ssp.worlds.articles import Statement, article, statements
from ssp.worlds.questions import follow, nest, relation_paths, word_question
from ssp.worlds.schema import Relation
from ssp.worlds.world import World, WorldSettings


class WorldLibrary:
    """A sibling of a world as a library."""

    def __init__(self, settings: WorldSettings, facts_seed: int, scratch: Path) -> None:
        self._world = World(settings, facts_seed)
        self._entities = range(len(self._world))
        docs = (article(self._world, entity) for entity in self._entities)
        self._paths = {hops: list(relation_paths(self._world.schema, hops).values()) for hops in (1, 2, 3, 4)}
        build_index(docs, scratch / "index")
        self.searcher = open_index(scratch / "index")

    @classmethod
    def siblings(cls, settings: WorldSettings, count: int) -> "list[WorldLibrary]":
        """Several siblings of the world with these settings."""
        with tempfile.TemporaryDirectory(prefix="ssp-") as folder:
            return [
                cls(settings, derive(settings.seed, "sibling", number), Path(folder) / str(number))
                for number in range(count)
            ]

    def texts(self) -> Iterator[str]:
        rng = python_random(self._world.facts_seed, "texts")
        for entity in self._entities:
            yield article(self._world, entity).text
            yield self.puzzle(rng.choice((1, 2, 3)), rng).question

    def puzzle(self, hops: int, rng: random.Random) -> Puzzle:
        while True:
            relations = rng.choice(rng.choice(self._paths[hops]))
            start = rng.choice(self._members(relations[0].subject, rng))
            chain = follow(self._world, start, relations)
            if chain is not None:
                facts = tuple(self._fact(*step) for step in zip(chain.path, relations, strict=True))
                return Puzzle(word_question(self._world, chain, rng), facts, facts[-1].objects[0])

    def flawed_puzzle(self, rng: random.Random) -> Puzzle:
        """A question that asks of a thing what it does not have (the birthplace of a town), or has more than once."""
        return self._ambiguous_puzzle(rng) if rng.random() < 0.25 else self._mismatched_puzzle(rng)

    def _mismatched_puzzle(self, rng: random.Random) -> Puzzle:
        """A sound beginning, or none, then a relation that its end can't have; maybe one more after that."""
        sound = self.puzzle(rng.choice((1, 1, 2)), rng)
        facts = sound.facts if rng.random() < 0.7 else ()
        relations = [self._relation(fact) for fact in facts]
        if facts and relations[-1].is_value:
            return self._mismatched_puzzle(rng)
        end = self._world.objects(self._entity(facts[-1].doc), relations[-1].name)[0] if facts else None
        doc = sound.facts[0].doc if end is None else article(self._world, end)
        kind = self._world.kind(self._entity(doc))
        unfit = [one for one in self._world.schema.relations if one.subject != kind]
        again = [one for one in unfit if one in relations]  # "the birthplace of the birthplace": easily taken for one
        wrong = rng.choice(again) if again and rng.random() < 0.4 else self._misfit(kind, unfit, rng)
        further = self._world.schema.of_subject(wrong.object)
        missing = [wrong, rng.choice(further)] if further and rng.random() < 0.4 else [wrong]
        question = nest(self._world.schema, [*relations, *missing], sound.facts[0].doc.title, rng)
        return Puzzle(question, (*facts, *(Fact(doc, _wording(one, doc.title), (), one.name) for one in missing)), None)

    def unsaid(self, doc: Doc, rng: random.Random) -> Puzzle:
        """Something that things of this kind do not have, or that this one's article does not tell."""
        told = {fact.key for fact in self.facts(doc)}
        unsaid = [one for one in self._world.schema.relations if one.name not in told]
        relation = self._misfit(self._world.kind(self._entity(doc)), unsaid, rng)
        question = nest(self._world.schema, [relation], doc.title, rng)
        return Puzzle(question, (Fact(doc, _wording(relation, doc.title), (), relation.name),), None)

    def _misfit(self, kind: str, unfit: Sequence[Relation], rng: random.Random) -> Relation:
        """One of these, mostly one that is easily taken for what things of this kind have: the mayor of a company."""
        had = {one.object for one in self._world.schema.of_subject(kind)}
        tempting = [one for one in unfit if one.object in had]
        return rng.choice(tempting if tempting and rng.random() < 0.7 else unfit)

    def _ambiguous_puzzle(self, rng: random.Random) -> Puzzle:
        several = [relation for relation in self._world.schema.relations if relation.most > 1]
        while True:
            relation = rng.choice(several)
            entity = rng.choice(self._members(relation.subject, rng))
            if len(self._world.objects(entity, relation.name)) > 1:
                fact = self._fact(entity, relation)
                return Puzzle(nest(self._world.schema, [relation], fact.doc.title, rng), (fact,), None)

    def facts(self, doc: Doc) -> list[Fact]:
        return self._facts_of[doc.id]

    def ask(self, facts: tuple[Fact, ...], rng: random.Random) -> str:
        return nest(self._world.schema, [self._relation(fact) for fact in facts], facts[0].doc.title, rng)

    def connects(self, facts: tuple[Fact, ...]) -> bool:
        return True

    def phrase(self, facts: tuple[Fact, ...]) -> str:
        phrase = facts[0].doc.title
        for fact in facts:
            phrase = f"the {self._relation(fact).noun} of {phrase}"
        return phrase

    def document(self, rng: random.Random) -> Doc:
        return article(self._world, rng.choice(self._entities))

    @cached_property
    def _facts_of(self) -> dict[str, list[Fact]]:
        return {
            self._world.doc_id(entity): [
                _as_fact(article(self._world, entity), statement, statement.relation)
                for statement in statements(self._world, entity)
                if statement.relation is not None
            ]
            for entity in self._entities
        }

    def _members(self, kind: str, rng: random.Random) -> range:
        """The entities of a kind in one of the two parts, by their sizes."""
        train, island = self._world.train.ranges[kind], self._world.island.ranges[kind]
        return rng.choices((train, island), (len(train), len(island)))[0]

    def _fact(self, entity: int, relation: Relation) -> Fact:
        return next(fact for fact in self._facts_of[self._world.doc_id(entity)] if fact.key == relation.name)

    def _relation(self, fact: Fact) -> Relation:
        return self._world.schema.relation(fact.key)

    def _entity(self, doc: Doc) -> int:
        return int(doc.id[1:])


def _as_fact(doc: Doc, statement: Statement, relation: Relation) -> Fact:
    return Fact(doc, _wording(relation, doc.title), statement.objects, relation.name)


def _wording(relation: Relation, subject: str) -> str:
    """Like "The mother of … is ___.": it begins with what was asked, which makes it easy to write."""
    return f"The {relation.noun} of {subject} is {GAP}."
