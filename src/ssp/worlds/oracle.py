"""The oracle: reads a question of the world's language and knows its true answers.

It is used to measure (how often is verification right?) and never to train. It must not be wrong when it
answers, so it accepts only what it can parse completely:

- `None`: the question does not parse, or parses in two ways that both make sense;
- an empty set: it parses, but nothing fits ("the mother of a town", a mother who is not on record);
- otherwise the set of all true answers; more than one where a relation has several objects.

Small variations of wording are understood: case, punctuation, spacing, contractions (what's), which/what/who,
was/is, "the" before a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ssp.text import exact_match, fold
from ssp.worlds.facts import Facts
from ssp.worlds.schema import Relation, Schema
from ssp.worlds.world import value_aliases

_WORDS = re.compile(r"[^\W_]+")
_CONTRACTIONS = re.compile(r"\b(what|who|where|when|how)['’]s\b")
_SYNONYMS = {
    "which": "what",
    "who": "what",
    "was": "is",
    "were": "are",
    "whom": "what",
    "did": "does",
    "km": "kilometres",
}
_LONGEST_QUESTION = 200  # words; a degenerate text must not send the parser into the depths
Words = tuple[str, ...]


class Truth(StrEnum):
    """What the oracle thinks of a question with a claimed answer."""

    TRUE = "true"  # the claimed answer is right, and the only one
    AMBIGUOUS = "ambiguous"  # it is right, but not the only one
    FALSE = "false"  # something else is right, or nothing is
    UNKNOWN = "unknown"  # the question does not parse


@dataclass(frozen=True, slots=True)
class Reading:
    """A question understood: where it starts, what it follows, what it needs, and the true answers."""

    start: str
    relations: tuple[str, ...]
    gold_ids: tuple[str, ...]
    answers: frozenset[str]

    @property
    def hops(self) -> int:
        return len(self.relations)


@dataclass(frozen=True, slots=True)
class _Template:
    """A wording with one place for the subject, as words before and after it."""

    relation: Relation
    before: Words
    after: Words

    def match(self, words: Words) -> Words | None:
        """The subject's words, if the wording fits."""
        if len(words) <= len(self.before) + len(self.after) or words[: len(self.before)] != self.before:
            return None
        rest = words[len(self.before) :]
        if not self.after:
            return rest
        return rest[: -len(self.after)] if rest[-len(self.after) :] == self.after else None


class Oracle:
    """Answers questions from the facts.

    >>> from ssp.worlds.world import World, WorldSettings
    >>> world = World(WorldSettings(articles=200))
    >>> oracle = Oracle(Facts.of(world))
    >>> region = world.name(world.train.ranges["region"][0])
    >>> oracle.answers(f"what's the capital of {region}")
    frozenset({'Timiford'})
    >>> oracle.answers("What is the meaning of life?") is None
    True
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._questions = _templates(facts.schema, questions=True)
        self._phrases = _templates(facts.schema, questions=False)
        self._by_name: dict[Words, str] = {}
        for entity in facts.entities.values():
            if self._by_name.setdefault(canonical(entity.name), entity.id) != entity.id:
                raise ValueError(f"two entities are called {entity.name}")

    @classmethod
    def load(cls, folder: Path | str) -> "Oracle":
        """The oracle of a world that `ssp world` wrote."""
        return cls(Facts.load(Path(folder)))

    def answers(self, question: str) -> frozenset[str] | None:
        """The set of true answers (possibly empty), or None if the question does not parse."""
        reading = self.chain(question)
        return None if reading is None else reading.answers

    def chain(self, question: str) -> Reading | None:
        """The question's chain with hops and gold documents, or None if it does not parse."""
        words = canonical(question)
        if len(words) > _LONGEST_QUESTION:
            return None
        readings = [self._read(start, relations) for start, relations in self._parse_question(words)]
        if len(readings) > 1:
            readings = [reading for reading in readings if reading.answers] or readings[:1]
        return readings[0] if len(readings) == 1 else None

    def judge(self, question: str, answer: str) -> Truth:
        """Is this a true question for this answer, and is the answer the only one?"""
        answers = self.answers(question)
        if answers is None:
            return Truth.UNKNOWN
        right = [text for text in answers if exact_match(answer, self.spellings(text))]
        if not right:
            return Truth.FALSE
        return Truth.TRUE if len(answers) == 1 else Truth.AMBIGUOUS

    def is_heldout(self, reading: Reading) -> bool:
        """Does the question start at an entity that is kept for evaluation?"""
        return self._facts.entities[reading.start].heldout

    @staticmethod
    def spellings(answer: str) -> tuple[str, ...]:
        """An answer with the other spellings of it that are right."""
        number, _, unit = answer.partition(" ")
        if not number.isdigit():
            return (answer,)
        return (answer, *value_aliases(unit or "count", int(number)))

    def _parse_question(self, words: Words) -> Iterator[tuple[str, tuple[Relation, ...]]]:
        for template in self._questions:
            subject = template.match(words)
            if subject is not None:
                for start, relations in self._parse_subject(subject):
                    yield start, (*relations, template.relation)

    def _parse_subject(self, words: Words) -> Iterator[tuple[str, tuple[Relation, ...]]]:
        named = self._by_name.get(words) or (self._by_name.get(words[1:]) if words[0] == "the" else None)
        if named is not None:
            yield named, ()
        for template in self._phrases:
            subject = template.match(words)
            if subject is not None:
                for start, relations in self._parse_subject(subject):
                    yield start, (*relations, template.relation)

    def _read(self, start: str, relations: tuple[Relation, ...]) -> Reading:
        """Follow the relations from the start, all objects at once; wrong kinds fall out."""
        here, gold = [start], dict[str, None]()
        for relation in relations:
            subjects = [e for e in here if e in self._facts.entities and self._is_kind(e, relation.subject)]
            gold.update(dict.fromkeys(subjects))
            found = (self._facts.objects.get((subject, relation.name), ()) for subject in subjects)
            here = list(dict.fromkeys(value for values in found for value in values))
        entities = self._facts.entities
        texts = frozenset(value if relations[-1].is_value else entities[value].name for value in here)
        return Reading(start, tuple(relation.name for relation in relations), tuple(gold), texts)

    def _is_kind(self, entity: str, kind: str) -> bool:
        return self._facts.entities[entity].kind == kind


def canonical(text: str) -> Words:
    """Words without case, punctuation and small variations of wording.

    >>> canonical("What's the  capital of Zedvia?!")
    ('what', 'is', 'the', 'capital', 'of', 'zedvia')
    """
    folded = _CONTRACTIONS.sub(r"\1 is", fold(text))
    return tuple(_SYNONYMS.get(word, word) for word in _WORDS.findall(folded))


def _templates(world_schema: Schema, questions: bool) -> tuple[_Template, ...]:
    templates = []
    for relation in world_schema.relations:
        natural, plain = relation.phrases, relation.plain_phrases
        if questions:
            natural, plain = relation.questions, relation.plain_questions
        for wording in dict.fromkeys((*natural, *plain)):
            before, after = wording.split("{s}")
            templates.append(_Template(relation, canonical(before), canonical(after)))
    return tuple(templates)
