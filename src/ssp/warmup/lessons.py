"""Demonstrations as tokens: played by the real agent, with a behaviour in the place of the engine.

So a demonstration has exactly the prompts, observations and token boundaries that the model will see when it plays.
Only what an agent would sample is taught (`mask`).
"""

import random
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ssp.agents.agent import SearchAgent, Task
from ssp.agents.tape import encode_prompt
from ssp.engines.scripted import ScriptedEngine
from ssp.protocols import Searcher
from ssp.rng import python_random
from ssp.types import Doc, Hit, Role, Trajectory
from ssp.warmup.behaviours import Behaviour, Habits, ask_about, naive_solver, proposer, read
from ssp.warmup.library import Library, Puzzle


@dataclass(frozen=True, slots=True)
class Lesson:
    """One demonstration: tokens, and which of them the agent would have sampled."""

    token_ids: tuple[int, ...]
    mask: tuple[bool, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class _Talk:
    """Who is asked, with what, and what is said; of this the beginning may be given, not taught."""

    role: Role
    fields: Mapping[str, str | int]
    said: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Syllabus:
    """What is taught, in shares of lessons, and from how many documents at once."""

    reading: float = 0.5
    solving: float = 0.25
    proposing: float = 0.25
    asking: float = 0.0  # the end of a proposal alone: from notes to a question
    hops: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1)
    questions: int = 8  # asked about the same documents in one reading lesson
    chains: int = 2  # of these, questions that may take several hops; the others ask for single facts
    backwards: float = 0.3  # of the questions with one or two hops: the answer is given, the question is to be found
    neighbours: float = 0.5  # share of the documents that come with those that a search finds beside them
    noise: int = 5  # most documents that have nothing to do with the questions
    unanswerable: float = 0.25  # of the questions that may take several hops: flawed, or a document is missing
    unsaid: float = 0.12  # of the single facts that are asked for: something that the document does not say
    habits: Habits = field(default_factory=Habits)


class Teacher:
    """Makes lessons from libraries, each from one of them, in the dress of the given agent."""

    def __init__(self, libraries: Sequence[Library], agent: SearchAgent, syllabus: Syllabus) -> None:
        self._libraries = libraries
        self._agent = agent
        self._syllabus = syllabus
        self._unknown = agent.prompts.phrases["unknown"]

    def lessons(self, seed: int) -> Iterator[Lesson]:
        """Lessons without end; the n-th depends on the seed and n only."""
        makers = (self._reading, self._solving, self._proposing, self._asking)
        plan = self._syllabus
        shares = (plan.reading, plan.solving, plan.proposing, plan.asking)
        number = 0
        while True:
            rng = python_random(seed, "lesson", number)
            yield rng.choices(makers, shares)[0](rng.choice(self._libraries), rng)
            number += 1

    def _hops(self, rng: random.Random) -> int:
        return rng.choices(range(1, len(self._syllabus.hops) + 1), self._syllabus.hops)[0]

    def _reading(self, library: Library, rng: random.Random) -> Lesson:
        """Several questions about one set of documents; some can't be answered from them."""
        puzzles = [self._any_puzzle(library, rng) for _ in range(self._syllabus.chains)]
        hidden = {rng.choice(one.facts).doc.id for one in puzzles if rng.random() < self._syllabus.unanswerable / 2}
        docs = {fact.doc.id: fact.doc for one in puzzles for fact in one.facts}
        for doc in [*self._neighbours(library, list(docs.values()), rng), *self._strangers(library, rng)]:
            docs.setdefault(doc.id, doc)
        shown = [doc for doc in docs.values() if doc.id not in hidden]
        rng.shuffle(shown)
        puzzles += self._simple_puzzles(library, shown, self._syllabus.questions - len(puzzles), rng)
        rng.shuffle(puzzles)
        return self._reading_of(library, puzzles, shown, rng)

    def _neighbours(self, library: Library, docs: Sequence[Doc], rng: random.Random) -> list[Doc]:
        """What a search for some of these documents finds beside them: mostly things with similar names."""
        titles = [doc.title for doc in docs if rng.random() < self._syllabus.neighbours]
        return [hit.doc for hits in library.searcher.search_now(titles, self._agent.k) for hit in hits]

    def _strangers(self, library: Library, rng: random.Random) -> list[Doc]:
        return [library.document(rng) for _ in range(rng.randint(0, self._syllabus.noise))]

    def _simple_puzzles(self, library: Library, docs: Sequence[Doc], count: int, rng: random.Random) -> list[Puzzle]:
        """Questions for single facts of these documents."""
        facts = [fact for doc in docs for fact in library.facts(doc) if len(fact.objects) == 1]
        asked = rng.sample(facts, min(len(facts), count))
        return [
            library.unsaid(fact.doc, rng)
            if rng.random() < self._syllabus.unsaid
            else Puzzle(library.ask((fact,), rng), (fact,), fact.objects[0])
            for fact in asked
        ]

    def _any_puzzle(self, library: Library, rng: random.Random) -> Puzzle:
        if rng.random() < self._syllabus.unanswerable / 2:
            return library.flawed_puzzle(rng)
        return library.puzzle(self._hops(rng), rng)

    def _reading_of(
        self, library: Library, puzzles: Sequence[Puzzle], docs: Sequence[Doc], rng: random.Random
    ) -> Lesson:
        """Questions to answer, the documents with the first; some the other way round, as an answer to ask for."""
        shown = "\n".join(self._agent.prompts.show(tuple(docs)))
        talks: list[_Talk] = []
        for puzzle in puzzles:
            if talks and self._is_shown(puzzle, docs) and rng.random() < self._syllabus.backwards:
                turns, question = ask_about(library, self._agent.protocol, puzzle, rng)
                talks.append(self._proposal(puzzle, "", turns + question))
            else:
                fields = {"question": puzzle.question, "documents": "" if talks else shown}
                talks.append(_Talk(Role.ANSWERER, fields, read(puzzle, docs, self._unknown)))
        return self._talk(talks, "reading")

    @staticmethod
    def _is_shown(puzzle: Puzzle, docs: Sequence[Doc]) -> bool:
        """Whether a proposer could have found all of it, and said it in two notes."""
        ids = {doc.id for doc in docs}
        return puzzle.answer is not None and puzzle.hops <= 2 and all(fact.doc.id in ids for fact in puzzle.facts)

    def _asking(self, library: Library, rng: random.Random) -> Lesson:
        """From notes to a question. The notes are given: without documents they could only be made up."""
        puzzles = [library.puzzle(self._hops(rng), rng) for _ in range(self._syllabus.questions)]
        parts = [ask_about(library, self._agent.protocol, puzzle, rng) for puzzle in puzzles]
        return self._talk(
            [self._proposal(puzzle, *part) for puzzle, part in zip(puzzles, parts, strict=True)], "asking"
        )

    def _proposal(self, puzzle: Puzzle, given: str, said: str) -> _Talk:
        """A proposal without what was found; of its turns, some may be given."""
        fields: dict[str, str | int] = {"answer": puzzle.answer or self._unknown, "hops": puzzle.hops}
        return _Talk(Role.PROPOSER, fields, said, given)

    def _talk(self, talks: Sequence[_Talk], kind: str) -> Lesson:
        """Prompts and what is said to them, one after the other."""
        codec, prompts = self._agent.codec, self._agent.prompts
        ids: list[int] = []
        mask: list[bool] = []
        for talk in talks:
            asked = encode_prompt(codec, prompts.pieces(talk.role, self._agent.protocol, talk.fields))
            asked += codec.encode(talk.given)
            said = codec.encode(talk.said)
            ids += [*asked, *said]
            mask += [False] * len(asked) + [True] * len(said)
        return Lesson(tuple(ids), tuple(mask), kind)

    def _solving(self, library: Library, rng: random.Random) -> Lesson:
        puzzle = library.puzzle(self._hops(rng), rng)
        behaviour = naive_solver(
            library, self._agent.protocol, puzzle, self._agent.budget.searches, self._syllabus.habits, rng
        )
        task = Task("lesson", Role.SOLVER, {"question": puzzle.question})
        return play_lesson(self._agent, library, task, behaviour, "solving")

    def _proposing(self, library: Library, rng: random.Random) -> Lesson:
        hops = self._hops(rng)
        puzzle = library.puzzle(hops, rng)
        assert puzzle.answer is not None
        behaviour = proposer(library, self._agent.protocol, puzzle.answer, hops, self._syllabus.habits, rng)
        task = Task("lesson", Role.PROPOSER, {"answer": puzzle.answer, "hops": hops})
        return play_lesson(self._agent, library, task, behaviour, "proposing")


def play_lesson(agent: SearchAgent, library: Library, task: Task, behaviour: Behaviour, kind: str) -> Lesson:
    """The real agent plays, with a behaviour in the place of its engine."""
    found: list[Sequence[Doc]] = []
    player = replace(
        agent,
        engine=ScriptedEngine(agent.codec, lambda _: behaviour(found)),
        searcher=_Watched(library.searcher, found),
    )
    trajectory = _finish(player.run(task))
    return Lesson(trajectory.token_ids, trajectory.mask, kind)


class _Watched:
    """A searcher that keeps what it found where the behaviour can see it."""

    def __init__(self, searcher: Searcher, found: list[Sequence[Doc]]) -> None:
        self._searcher = searcher
        self._found = found

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        results = await self._searcher.search(queries, k)
        self._found.extend([hit.doc for hit in hits] for hits in results)
        return results

    async def close(self) -> None:
        return None


def _finish(coroutine: "Coroutine[object, object, Trajectory]") -> Trajectory:
    """Run a coroutine that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        trajectory: Trajectory = done.value
        return trajectory
    raise RuntimeError("a scripted game must not wait")
