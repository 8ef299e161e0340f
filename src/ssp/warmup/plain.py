"""Lessons for models that can read already: only how the game is played.

A solver looks up the names along the way and answers; a reader answers from documents, or says that they don't tell.
Neither keeps notes: every token costs time, and a pre-trained model does not need them to read. A proposer looks for
what mentions the answer, then for what mentions that, and asks. It notes what it found first ("Trust: film
directed by Ida Kern"): finding the place and asking for it are one thing too many to do at once (docs/log.md).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ssp.agents.agent import SearchAgent, Task
from ssp.agents.protocol import Protocol
from ssp.agents.tape import encode_prompt
from ssp.rng import python_random
from ssp.seeds.mining import bare_title, is_date
from ssp.types import Doc, Role
from ssp.warmup.behaviours import Behaviour
from ssp.warmup.lessons import Lesson, play_lesson
from ssp.warmup.library import GAP, Fact, Library, Puzzle

Maker = Callable[[Library, random.Random], Lesson]
_STRANGERS = 3  # looked at, to find one that something can be asked about
_TRIES = 20  # at finding something that can be shown
_NOTED = 3  # most words of a note before what it tells; with more one learns to copy beginnings of articles


class NothingToShow(Exception):
    """Search did not find what the lesson would need; another one will do."""


@dataclass(frozen=True, slots=True)
class PlainSyllabus:
    """What is taught, in shares of lessons."""

    reading: float = 0.25
    solving: float = 0.15
    proposing: float = 0.6
    hops: tuple[float, ...] = (0.5, 0.5)
    noise: int = 2  # most documents beside those that are needed
    questions: int = 8  # asked about the same documents in one reading
    unanswerable: float = 0.1  # of these: something is asked that the documents don't say
    backwards: float = 0.5  # of the others: the answer is given, the question is to be found, without a search


class PlainTeacher:
    """Makes lessons from libraries, in the dress of the given agent."""

    def __init__(self, libraries: Sequence[Library], agent: SearchAgent, syllabus: PlainSyllabus) -> None:
        self._libraries = libraries
        self._agent = agent
        self._syllabus = syllabus
        self._unknown = agent.prompts.phrases["unknown"]

    def lessons(self, seed: int) -> Iterator[Lesson]:
        """Lessons without end; the n-th depends on the seed and n only."""
        plan = self._syllabus
        makers, shares = (self._reading, self._solving, self._proposing), (plan.reading, plan.solving, plan.proposing)
        number = 0
        while True:
            rng = python_random(seed, "plain lesson", number)
            yield self._shown(rng.choices(makers, shares)[0], rng)
            number += 1

    def _shown(self, make: Maker, rng: random.Random) -> Lesson:
        """What a maker makes, after as many tries as it takes; in the end, a reading."""
        for _ in range(_TRIES):
            try:
                return make(rng.choice(self._libraries), rng)
            except NothingToShow:
                continue
        return self._reading(rng.choice(self._libraries), rng)

    def _puzzle(self, library: Library, rng: random.Random) -> Puzzle:
        hops = rng.choices(range(1, len(self._syllabus.hops) + 1), self._syllabus.hops)[0]
        return library.puzzle(hops, rng)

    def _reading(self, library: Library, rng: random.Random) -> Lesson:
        """Several questions about the same documents, which come with the first: reading once, answering often."""
        puzzle = self._puzzle(library, rng)
        docs = {fact.doc.id: fact.doc for fact in puzzle.facts}
        for doc in (_stranger(library, rng) for _ in range(rng.randint(1, self._syllabus.noise))):
            docs.setdefault(doc.id, doc)
        shown = list(docs.values())
        rng.shuffle(shown)
        facts = [fact for doc in shown for fact in library.facts(doc) if len(fact.objects) == 1]
        facts = [fact for fact in facts if fact not in puzzle.facts]
        dates = [fact for fact in facts if is_date(fact.objects[0])]
        others = [fact for fact in facts if not is_date(fact.objects[0])]
        few = rng.sample(dates, min(len(dates), max(1, len(others) // 2)))  # or most would ask for dates
        asked = rng.sample([*others, *few], min(len(others) + len(few), self._syllabus.questions - 1))
        puzzles = [puzzle, *(self._about(fact, library, rng) for fact in asked)]
        return self._talk(shown, rng.sample(puzzles, len(puzzles)), rng)

    def _about(self, fact: Fact, library: Library, rng: random.Random) -> Puzzle:
        if rng.random() < self._syllabus.unanswerable:
            return library.unsaid(fact.doc, rng)
        return Puzzle(library.ask((fact,), rng), (fact,), fact.objects[0])

    def _talk(self, docs: Sequence[Doc], puzzles: Sequence[Puzzle], rng: random.Random) -> Lesson:
        """Questions to answer, the documents with the first; some the other way round, as an answer to ask for."""
        codec, prompts = self._agent.codec, self._agent.prompts
        shown = "\n".join(prompts.show(tuple(docs)))
        ids: list[int] = []
        mask: list[bool] = []
        for puzzle in puzzles:
            role = Role.ANSWERER
            fields: dict[str, str | int] = {"question": puzzle.question, "documents": "" if ids else shown}
            said = f"<answer>{puzzle.answer or self._unknown}</answer>"
            if ids and puzzle.answer is not None and rng.random() < self._syllabus.backwards:
                role, fields = Role.PROPOSER, {"answer": puzzle.answer, "hops": 0}
                said = f"<think>{_notes(puzzle.facts)}</think><question>{puzzle.question}</question>"
            asked = encode_prompt(codec, prompts.pieces(role, self._agent.protocol, fields))
            told = codec.encode(said)
            ids += [*asked, *told]
            mask += [False] * len(asked) + [True] * len(told)
        return Lesson(tuple(ids), tuple(mask), "reading")

    def _solving(self, library: Library, rng: random.Random) -> Lesson:
        puzzle = self._puzzle(library, rng)
        if puzzle.hops > self._agent.budget.searches:
            raise NothingToShow
        task = Task("lesson", Role.SOLVER, {"question": puzzle.question})
        return self._played(library, task, solver(self._agent.protocol, puzzle), "solving")

    def _proposing(self, library: Library, rng: random.Random) -> Lesson:
        puzzle = self._puzzle(library, rng)
        assert puzzle.answer is not None
        task = Task("lesson", Role.PROPOSER, {"answer": puzzle.answer, "hops": puzzle.hops})
        behaviour = proposer(library, self._agent.protocol, puzzle.answer, puzzle.hops, rng)
        return self._played(library, task, behaviour, "proposing")

    def _played(self, library: Library, task: Task, behaviour: Behaviour, kind: str) -> Lesson:
        """A whole game; one that is cut by the budget would teach to stop in the middle."""
        lesson = play_lesson(self._agent, library, task, behaviour, kind)
        if not self._agent.codec.decode(lesson.token_ids).rstrip().endswith(("</answer>", "</question>")):
            raise NothingToShow
        return lesson


def _stranger(library: Library, rng: random.Random) -> Doc:
    """Any document, rather one that something can be asked about."""
    some = [library.document(rng) for _ in range(_STRANGERS)]
    return next((doc for doc in some if library.facts(doc)), some[0])


def solver(protocol: Protocol, puzzle: Puzzle) -> Behaviour:
    """Looks up one name after the other and answers, if all was found."""

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        if found and puzzle.facts[len(found) - 1].doc not in found[-1]:
            raise NothingToShow
        if len(found) < puzzle.hops:
            return protocol.write_search(bare_title(puzzle.facts[len(found)].doc.title))
        return f"<answer>{puzzle.answer}</answer>"

    return turn


def proposer(library: Library, protocol: Protocol, answer: str, hops: int, rng: random.Random) -> Behaviour:
    """Looks for what mentions the answer, then for what mentions that, …; asks for the answer along the way back."""
    chain: list[Fact] = []

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        if not found:
            return protocol.write_search(answer)
        fact = next(linked(library, found[-1], answer, tuple(chain)), None)
        if fact is None:
            raise NothingToShow
        chain.insert(0, fact)  # always the first: where any will do, one learns to mix them (docs/log.md)
        note = f"<think>{_notes(chain[:1])}</think>"
        if len(chain) < hops:
            return note + protocol.write_search(chain[0].doc.title)
        return f"{note}<question>{library.ask(tuple(chain), rng)}</question>"

    return turn


def linked(library: Library, docs: Sequence[Doc], answer: str, chain: tuple[Fact, ...]) -> Iterator[Fact]:
    """Facts of these documents that lead one further away from the answer: they mention where one is."""
    target = chain[0].doc.title if chain else answer
    met = {answer, *(fact.doc.title for fact in chain)}
    for doc in docs:
        for fact in library.facts(doc) if doc.title not in met else ():
            if fact.objects == (target,) and library.connects((fact, *chain)):
                yield fact


def _notes(facts: Sequence[Fact]) -> str:
    """What was found, the last fact first, as a proposer comes upon it: of each the subject and the words that tell.

    >>> trust = Fact(Doc("1", "Trust (film)", ""), "Trust is a 1990 film written and directed by ___.", ("Ida Kern",))
    >>> _notes([trust])
    'Trust: and directed by Ida Kern.'
    """
    return " ".join(_note(fact) for fact in reversed(facts))


def _note(fact: Fact) -> str:
    name = bare_title(fact.doc.title)
    before, _, after = fact.wording.removeprefix(fact.doc.title).removeprefix(name).partition(GAP)
    before, after = before.strip(" (),"), after.strip(" (),.")
    told = [*before.split()[-_NOTED:], fact.objects[0]] if before else [fact.objects[0], *after.split()[:_NOTED]]
    return f"{name}: {' '.join(told).rstrip('.')}."
