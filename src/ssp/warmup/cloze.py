"""Lessons from any corpus, without labels: sentences with a gap where a seed answer stood.

A fact is a sentence that mentions a seed answer. Where that answer is the title of another document, the two are
linked, and a question can lead from one to the other. Questions use the words of the sentence (`phrasing`), or, if they
are to be `natural`, those that people use (`asking`).
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ssp.errors import DataError
from ssp.protocols import LocalSearcher
from ssp.seeds.mining import bare_title, is_date
from ssp.seeds.people import is_about_a_person
from ssp.text import UNSPACED_RUN, is_unspaced, leaks
from ssp.types import Doc
from ssp.warmup.asking import asking, statement
from ssp.warmup.library import GAP, Fact, Puzzle
from ssp.warmup.phrasing import ask_for, led_to, predicate, question_word, standing_alone, with_gap

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“'])|(?<=[。！？])\s*")
_WORDS = re.compile(r"\S+")
_EDGES = " \t\"'“”‘’()[]«».,;:!?。，、；：！？《》「」"
_LONGEST = 8  # words or characters of an answer
_DESCRIBES = re.compile(  # "by Los Angeles-based rock band …": what comes after is meant
    r"-[a-z]| (?!(?:and|or|with|in|for|from|on|at|as|who|which|that|to|by|of|under|through|after|during|about|is|was|"
    r"it|starring|featuring|based|released|published)\b)[a-z][a-z-]* (?:[a-z-]+ ){0,3}[A-Z]"
)
_PERSON = re.compile(r"\bborn\b|\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er) |[他她]|出生|生于")
_BEGINNING = 300  # characters of a text that tell what it is about
_TRIES, _BRANCHES = 30, 3  # at finding a chain of the wanted length
_DATED = 0.25  # of the puzzles ask for a date, where there is other to ask for: else most would
_SELDOM = 5000  # facts for which there should be another that is asked for in the same words: else it was misread
_OF_A_KIND = 400  # single facts that are asked for in the same words: else most would be births, deaths and directors


class ClozeLibrary:
    """A corpus with its seed answers as a library. Facts stand in the first `visible` characters of their documents.

    >>> from ssp.search.static import StaticSearcher
    >>> docs = [Doc("1", "Oakmere", "Its mayor is Mira Dolven."), Doc("2", "Mira Dolven", "She left in 1843.")]
    >>> library = ClozeLibrary(docs, ["Mira Dolven", "1843"], StaticSearcher({}))
    >>> library.puzzle(2, random.Random(0)).question
    "Oakmere's mayor is someone who left in what year?"
    """

    def __init__(
        self,
        docs: Sequence[Doc],
        answers: Iterable[str],
        searcher: LocalSearcher,
        visible: int | None = None,
        *,
        natural: bool = False,
    ) -> None:
        self.searcher = searcher
        self._visible = visible
        self._answers = frozenset(answer.strip() for answer in answers)
        self._by_title = {doc.title: doc for doc in docs if doc.title}
        self._facts = _without_oddities({doc.id: list(self._read_naturally(doc)) for doc in docs}) if natural else {}
        if not any(self._facts.values()):  # as it is in other languages
            self._facts = {doc.id: _plain_ones(list(self._read(doc))) for doc in docs}
        self._docs = [doc for doc in docs if self._facts[doc.id]]
        if not self._docs:
            raise DataError("no document of the corpus mentions a seed answer: there is nothing to make lessons from")
        self._all = list(docs)
        self._single = self._of_all_kinds()

    def texts(self) -> Iterator[str]:
        rng = random.Random(0)
        for doc in self._all:
            yield doc.text
            if self._facts[doc.id]:
                yield self.ask((rng.choice(self._facts[doc.id]),), rng)

    def puzzle(self, hops: int, rng: random.Random) -> Puzzle:
        """A puzzle with this many hops, or with fewer where the corpus has no such links."""
        dated = rng.random() < _DATED
        if hops == 1 and (single := self._single[dated] or self._single[not dated]):
            fact = rng.choice(single)
            return Puzzle(self.ask((fact,), rng), (fact,), fact.objects[0])
        longest: tuple[Fact, ...] = ()
        for _ in range(_TRIES):
            chain = self._walk(hops, rng)
            longest = max(longest, chain, key=len)
            if len(chain) == hops and is_date(chain[-1].objects[0]) is dated:
                longest = chain
                break
        return Puzzle(self.ask(longest, rng), longest, longest[-1].objects[0])

    def _of_all_kinds(self) -> dict[bool, list[Fact]]:
        """What people can be asked for with one hop, but not too much of the same; dates under True."""
        kinds: dict[str, list[Fact]] = {}
        for facts in self._facts.values():
            for fact in facts:
                if fact.asked is not None:
                    kinds.setdefault(fact.asked.questions[0], []).append(fact)
        rng = random.Random(0)
        some = [fact for facts in kinds.values() for fact in rng.sample(facts, min(len(facts), _OF_A_KIND))]
        return {dated: [fact for fact in some if is_date(fact.objects[0]) is dated] for dated in (True, False)}

    def _walk(self, hops: int, rng: random.Random) -> tuple[Fact, ...]:
        """From any document along its mentions, as far as a question can be put that way."""
        return self._extend((), rng.choice(self._docs), hops, rng)

    def _extend(self, chain: tuple[Fact, ...], doc: Doc, hops: int, rng: random.Random) -> tuple[Fact, ...]:
        """The chain with a fact of this document, and more behind it while hops are left."""
        facts = [fact for fact in self._facts[doc.id] if self.connects((*chain, fact))]
        if len(chain) + 1 < hops:
            seen = {fact.doc.id for fact in chain} | {doc.id}
            links = [fact for fact in facts if self._leads_on(fact, seen)]
            for link in rng.sample(links, min(len(links), _BRANCHES)):
                longer = self._extend((*chain, link), self._by_title[link.objects[0]], hops, rng)
                if len(longer) > len(chain) + 1:
                    return longer
        return (*chain, rng.choice(facts)) if facts else chain

    def _leads_on(self, fact: Fact, seen: set[str]) -> bool:
        target = self._by_title.get(fact.objects[0])
        return target is not None and target.id not in seen and bool(self._facts[target.id])

    def flawed_puzzle(self, rng: random.Random) -> Puzzle:
        """A gap of one document, looked for in the text on another."""
        return self.unsaid(rng.choice(self._docs), rng)

    def unsaid(self, doc: Doc, rng: random.Random) -> Puzzle:
        """What is said of something else, asked of this."""
        said = {fact.asked.questions[0] for fact in self.facts(doc) if fact.asked is not None}
        for _ in range(_TRIES):
            other = rng.choice(self._docs)
            fact = rng.choice(self._facts[other.id])
            if fact.asked is None or fact.asked.questions[0] not in said:
                break
        title = "something else" if other.id == doc.id else doc.title or doc.id
        if fact.asked is not None:
            return Puzzle(
                rng.choice(fact.asked.questions).format(bare_title(title)), (Fact(doc, fact.wording, ()),), None
            )
        wording = fact.wording.replace(other.title, title) if other.title else f"{title}: {fact.wording}"
        return Puzzle(self._question(wording, fact), (Fact(doc, wording, ()),), None)

    def facts(self, doc: Doc) -> list[Fact]:
        return self._facts.get(doc.id, [])

    def ask(self, facts: tuple[Fact, ...], rng: random.Random) -> str:
        if (natural := _naturally(facts, rng)) is not None:
            return natural
        return self._question(self._wording(facts) or facts[-1].wording, facts[-1])

    def connects(self, facts: tuple[Fact, ...]) -> bool:
        return all(fact.asked for fact in facts) or self._wording(facts) is not None

    def phrase(self, facts: tuple[Fact, ...]) -> str:
        return ""

    def document(self, rng: random.Random) -> Doc:
        return rng.choice(self._all)

    def _wording(self, facts: tuple[Fact, ...]) -> str | None:
        """One sentence that leads along these facts, with a gap at its end; None if they can't be put into one."""
        wording: str | None = facts[0].wording
        for before, fact in pairwise(facts):
            said = predicate(fact.wording, fact.doc.title)
            wording = led_to(wording, said, self._is_person(before.objects[0])) if wording and said else None
        return wording

    def _question(self, wording: str, fact: Fact) -> str:
        answer = fact.objects[0]
        return ask_for(wording, question_word(answer, self._is_person(answer), is_unspaced(wording)))

    def _is_person(self, name: str) -> bool:
        doc = self._by_title.get(name)
        return doc is not None and _PERSON.search(doc.text[:_BEGINNING]) is not None

    def _read(self, doc: Doc) -> Iterator[Fact]:
        for sentence in _SENTENCE_END.split(doc.text[: self._visible]):
            alone = standing_alone(sentence, doc.title) if doc.title else sentence
            for answer in dict.fromkeys(_mentions(sentence, self._answers)):
                wording = with_gap(alone, answer) if answer not in (doc.title or doc.id) else None
                if wording is not None:
                    yield Fact(doc, wording, (answer,))

    def _read_naturally(self, doc: Doc) -> Iterator[Fact]:
        """What people can be asked in plain words."""
        person = is_about_a_person(doc.text)
        for number, sentence in enumerate(_SENTENCE_END.split(doc.text[: self._visible])):
            said_of = statement(sentence, doc.title, number == 0, person)
            if not doc.title or not re.match(rf"{re.escape(doc.title)}(?!: |['’]s )", said_of):
                continue
            for answer in dict.fromkeys(_mentions(sentence, self._answers)):
                if leaks(doc.title, (answer,)):
                    continue
                wording = with_gap(said_of, answer) or said_of.replace(answer, GAP, 1)
                asked = asking(wording, predicate(wording, doc.title), answer, self._is_person(answer), person)
                describes = _DESCRIBES.match(said_of.partition(answer)[2])
                if asked is not None and not (describes and asked.questions[0].startswith("Who")):
                    yield Fact(doc, wording, (answer,), asked=asked)


def _naturally(facts: tuple[Fact, ...], rng: random.Random) -> str | None:
    """A question that leads along these facts, if people can be asked for each of them."""
    name, question = bare_title(facts[0].doc.title), None
    for number, fact in enumerate(facts):
        if fact.asked is None:
            return None
        question = rng.choice(_behind(fact.asked.questions, number)).format(name)
        name = rng.choice(_behind(fact.asked.phrases, number)).format(name)
    return question


def _behind(forms: Sequence[str], number: int) -> Sequence[str]:
    """All, or behind other facts those that go with a phrase: not "the person who directed Trust's nationality"."""
    return [one for one in forms if "{}'s" not in one] or forms if number else forms


def _without_oddities(facts: Mapping[str, list[Fact]]) -> dict[str, list[Fact]]:
    """Without what hardly anything else in a large corpus is asked for: "What was {} a regular in?" """
    counts = Counter(fact.asked for some in facts.values() for fact in some)
    least = counts.total() // _SELDOM
    return {doc: [fact for fact in some if counts[fact.asked] > least] for doc, some in facts.items()}


def _plain_ones(facts: list[Fact]) -> list[Fact]:
    """Those that begin with what they are about, if there are any: the others make awkward questions."""
    return [fact for fact in facts if predicate(fact.wording, fact.doc.title) is not None] or facts


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
