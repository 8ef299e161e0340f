"""Lessons from any corpus, without labels: sentences with a gap where a seed answer stood.

A fact is a sentence that mentions a seed answer. Where that answer is the title of another document, the two are
linked, and a question can lead from one to the other. Nothing is known about relations, so questions quote the
sentence: 'In the text on Oakmere, what is missing: "The mayor is ___."?'
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from ssp.errors import DataError
from ssp.protocols import LocalSearcher
from ssp.text import UNSPACED_RUN
from ssp.types import Doc
from ssp.warmup.library import GAP, Fact, Puzzle

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_WORDS = re.compile(r"\S+")
_EDGES = " \t\"'“”‘’()[]«».,;:!?。，、；：！？《》「」"
_LONGEST = 8  # words or characters of an answer


class ClozeLibrary:
    """A corpus with its seed answers as a library.

    >>> from ssp.search.static import StaticSearcher
    >>> docs = [Doc("1", "Oakmere", "Its mayor is Mira Dolven."), Doc("2", "Mira Dolven", "She left in 1843.")]
    >>> library = ClozeLibrary(docs, ["Mira Dolven", "1843"], StaticSearcher({}))
    >>> library.puzzle(2, random.Random(0)).question
    'In the text on what is missing in the text on Oakmere ("Its mayor is ___."), what is missing: "She left in ___."?'
    """

    def __init__(self, docs: Sequence[Doc], answers: Iterable[str], searcher: LocalSearcher) -> None:
        self.searcher = searcher
        self._answers = frozenset(answer.strip() for answer in answers)
        self._by_title = {doc.title: doc for doc in docs if doc.title}
        self._facts = {doc.id: list(self._read(doc)) for doc in docs}
        self._docs = [doc for doc in docs if self._facts[doc.id]]
        if not self._docs:
            raise DataError("no document of the corpus mentions a seed answer: there is nothing to make lessons from")
        self._all = list(docs)

    def texts(self) -> Iterator[str]:
        rng = random.Random(0)
        for doc in self._all:
            yield doc.text
            if self._facts[doc.id]:
                yield self.ask((rng.choice(self._facts[doc.id]),), rng)

    def puzzle(self, hops: int, rng: random.Random) -> Puzzle:
        """A puzzle with this many hops, or with fewer where the corpus has no such links."""
        for _ in range(20):
            chain = self._walk(hops, rng)
            if len(chain) == hops:
                break
        return Puzzle(self.ask(chain, rng), chain, chain[-1].objects[0])

    def _walk(self, hops: int, rng: random.Random) -> tuple[Fact, ...]:
        doc = rng.choice(self._docs)
        chain: list[Fact] = []
        seen = {doc.id}
        while len(chain) < hops - 1:
            links = [fact for fact in self._facts[doc.id] if self._leads_on(fact, seen)]
            if not links:
                break
            chain.append(rng.choice(links))
            doc = self._by_title[chain[-1].objects[0]]
            seen.add(doc.id)
        return (*chain, rng.choice(self._facts[doc.id]))

    def _leads_on(self, fact: Fact, seen: set[str]) -> bool:
        target = self._by_title.get(fact.objects[0])
        return target is not None and target.id not in seen and bool(self._facts[target.id])

    def flawed_puzzle(self, rng: random.Random) -> Puzzle:
        """A gap of one document, looked for in the text on another."""
        return self.unsaid(rng.choice(self._docs), rng)

    def unsaid(self, doc: Doc, rng: random.Random) -> Puzzle:
        other = rng.choice(self._docs)
        fact = rng.choice(self._facts[other.id])
        subject = "something else" if other.id == doc.id else doc.title or doc.id
        return Puzzle(_question(subject, fact), (Fact(doc, fact.wording, ()),), None)

    def facts(self, doc: Doc) -> list[Fact]:
        return self._facts.get(doc.id, [])

    def ask(self, facts: tuple[Fact, ...], rng: random.Random) -> str:
        subject = facts[0].doc.title or facts[0].doc.id
        for fact in facts[:-1]:
            subject = f'what is missing in the text on {subject} ("{fact.wording}")'
        return _question(subject, facts[-1])

    def phrase(self, facts: tuple[Fact, ...]) -> str:
        return ""

    def document(self, rng: random.Random) -> Doc:
        return rng.choice(self._all)

    def _read(self, doc: Doc) -> Iterator[Fact]:
        for sentence in _SENTENCE_END.split(doc.text):
            for answer in dict.fromkeys(_mentions(sentence, self._answers)):
                if answer != doc.title:
                    yield Fact(doc, sentence.replace(answer, GAP), (answer,))


def _question(subject: str, fact: Fact) -> str:
    return f'In the text on {subject}, what is missing: "{fact.wording}"?'


def _mentions(sentence: str, answers: frozenset[str]) -> Iterator[str]:
    """The seed answers that stand in the sentence as whole words; longer ones before those inside them.

    >>> list(_mentions("Mira Dolven, of Oakmere, left in 1843.", frozenset({"Mira Dolven", "Mira", "1843"})))
    ['Mira Dolven', 'Mira', '1843']
    """
    words = list(_WORDS.finditer(sentence))
    for first in range(len(words)):
        for last in range(min(len(words), first + _LONGEST) - 1, first - 1, -1):
            text = sentence[words[first].start() : words[last].end()].strip(_EDGES)
            if text in answers:
                yield text
    for run in UNSPACED_RUN.finditer(sentence):
        text = run[0]
        for start in range(len(text)):
            for end in range(min(len(text), start + _LONGEST), start, -1):
                if text[start:end] in answers:
                    yield text[start:end]
