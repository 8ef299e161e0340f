"""What lessons are made from: documents whose sentences state facts, and puzzles that need some of these facts.

Two libraries: one over a generated world, which knows its relations, and one over any corpus, which knows only where
its seed answers are mentioned (`ssp.warmup.cloze`). Neither needs labels.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from ssp.protocols import LocalSearcher
from ssp.types import Doc
from ssp.worlds.articles import join_names

GAP = "___"


@dataclass(frozen=True, slots=True)
class Asking:
    """Ways to put a question, and the same as a part of another one; `{}` stands for what it is asked of."""

    questions: tuple[str, ...]
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a document says of its subject. `key` is the library's own name for the relation.

    `wording` is how a reader notes it down, with a gap for what is said: in plain words, which need not be the
    document's. Without objects it is something that the document does not say. `asked` is how people ask for it, if
    that is known.
    """

    doc: Doc
    wording: str
    objects: tuple[str, ...]
    key: str = ""
    asked: Asking | None = None

    @property
    def note(self) -> str:
        return self.noted(join_names(self.objects))

    @property
    def sought(self) -> str:
        """The beginning of the note, up to what is not known yet."""
        return self.wording.partition(GAP)[0].strip()

    def noted(self, thing: str) -> str:
        """The note with something else in the gap."""
        return self.wording.replace(GAP, thing)


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A question and the facts that lead to its answer, first clue first. No answer: it has none, or several."""

    question: str
    facts: tuple[Fact, ...]
    answer: str | None

    @property
    def hops(self) -> int:
        return len(self.facts)


class Library(Protocol):
    """A source of puzzles with a searcher over the same documents."""

    searcher: LocalSearcher

    def texts(self) -> Iterator[str]:
        """Everything that its language is made of, for training a tokenizer."""
        ...

    def puzzle(self, hops: int, rng: random.Random) -> Puzzle: ...

    def flawed_puzzle(self, rng: random.Random) -> Puzzle:
        """A question that looks right but has no answer, or more than one."""
        ...

    def unsaid(self, doc: Doc, rng: random.Random) -> Puzzle:
        """A question about this document that it does not answer."""
        ...

    def facts(self, doc: Doc) -> list[Fact]: ...

    def ask(self, facts: tuple[Fact, ...], rng: random.Random) -> str:
        """The question that leads along these facts."""
        ...

    def connects(self, facts: tuple[Fact, ...]) -> bool:
        """Whether a question can lead along these facts."""
        ...

    def phrase(self, facts: tuple[Fact, ...]) -> str:
        """What these facts lead to, as a part of a sentence; empty if the library has no words for it."""
        ...

    def document(self, rng: random.Random) -> Doc: ...
