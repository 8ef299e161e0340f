"""How the agents of the demonstrations behave: the reader well, the searchers naively.

A behaviour is a function of what was found so far; it says the agent's next turn. Searchers know the format, look up
names, note facts, and go on or stop, as the question has it. But the facts are mostly not those that were asked for:
the first that they found, whatever the question. Proposers are right more often, since a game needs some questions to
begin with.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssp.agents.protocol import Protocol
from ssp.types import Doc
from ssp.warmup.library import Fact, Library, Puzzle

Behaviour = Callable[[Sequence[Sequence[Doc]]], str]  # documents found by each search so far → the next turn


@dataclass(frozen=True, slots=True)
class Habits:
    """Shares of what naive agents do."""

    searches_name: float = 0.8  # the first query is the name in the question, else the whole question
    notes_right: float = 0.35  # the fact that was asked for
    notes_first: float = 0.5  # the first fact of what was found; else any
    right_length: float = 0.85  # as many searches as the question has hops; else one fewer or one more
    proposes_right: float = 0.95


def read(puzzle: Puzzle, docs: Sequence[Doc], unknown: str) -> str:
    """What a good reader writes: the facts that lead to the answer, up to the first that the documents don't have."""
    present = {doc.id for doc in docs}
    notes = []
    answer = puzzle.answer
    for number, fact in enumerate(puzzle.facts, start=1):
        known = fact.doc.id in present and fact.objects
        notes.append(_numbered(number, puzzle.hops, fact.note if known else fact.noted(unknown)))
        if not known:
            answer = None
            break
    return f"{_think(' '.join(notes))}<answer>{answer or unknown}</answer>"


def naive_solver(library: Library, protocol: Protocol, puzzle: Puzzle, habits: Habits, rng: random.Random) -> Behaviour:
    """Looks up names and notes facts, seldom those that were asked for."""
    length = puzzle.hops
    if rng.random() >= habits.right_length:
        length += rng.choice((-1, 1))
    length = max(1, length)

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        if not found:
            by_name = rng.random() < habits.searches_name
            return protocol.write_search(puzzle.facts[0].doc.title if by_name else puzzle.question)
        fact = _naive_choice(library, puzzle, found[-1], habits, rng)
        if fact is None:
            return f"<answer>{rng.choice(found[-1] or found[0] or [library.document(rng)]).title}</answer>"
        thing = rng.choice(fact.objects)
        action = protocol.write_search(thing) if len(found) < length else f"<answer>{thing}</answer>"
        return _think(_numbered(len(found), length, fact.note)) + action

    return turn


def _naive_choice(
    library: Library, puzzle: Puzzle, docs: Sequence[Doc], habits: Habits, rng: random.Random
) -> Fact | None:
    """A fact of the first document that has any: seldom the right one, more often the first."""
    facts = next((facts for doc in docs if (facts := library.facts(doc))), [])
    right = [fact for fact in puzzle.facts if fact in facts]
    draw = rng.random()
    if right and draw < habits.notes_right:
        return right[-1]
    if facts and draw < habits.notes_right + habits.notes_first:
        return facts[0]
    return rng.choice(facts) if facts else None


def proposer(
    library: Library, protocol: Protocol, answer: str, hops: int, habits: Habits, rng: random.Random
) -> Behaviour:
    """Works backwards: what mentions the answer, what mentions that, …; sometimes carelessly.

    Says what it looked for and what it found before how the two are linked.
    """
    careless = rng.random() >= habits.proposes_right
    chain: list[Fact] = []

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        if not found:
            return protocol.write_search(answer)
        target = chain[0].doc.title if chain else answer
        facts = [fact for doc in found[-1] for fact in library.facts(doc)]
        linked = [fact for fact in facts if fact.objects == (target,) and fact not in chain]
        if careless and not chain and rng.random() < 0.7:
            linked = facts
        if not linked:
            return _give_up(library, chain or facts, rng)
        fact = rng.choice(linked)
        chain.insert(0, fact)
        note = _think(_numbered(len(found), hops, _link(target, fact)))
        if len(found) < hops:
            return note + protocol.write_search(fact.doc.title)
        return f"{note}<question>{plain_question(library, chain, rng)}</question>"

    return turn


def ask_about(library: Library, puzzle: Puzzle, rng: random.Random) -> str:
    """What a proposer writes who has found all that there is to find."""
    notes, target = [], puzzle.answer or ""
    for number, fact in enumerate(reversed(puzzle.facts), start=1):
        notes.append(_numbered(number, puzzle.hops, _link(target, fact)))
        target = fact.doc.title
    return f"{_think(' '.join(notes))}<question>{plain_question(library, puzzle.facts, rng)}</question>"


def plain_question(library: Library, facts: Sequence[Fact], rng: random.Random) -> str:
    """Of the ways to ask for this, one that keeps close to the words of the notes."""
    noted = {word for fact in facts for word in fact.note.split()}
    ways = [library.ask(tuple(facts), rng) for _ in range(4)]
    return max(ways, key=lambda question: sum(word in noted for word in question.split()) / len(question.split()))


def _link(target: str, fact: Fact) -> str:
    return f"{target}, {fact.doc.title}. {fact.note}"


def _give_up(library: Library, facts: Sequence[Fact], rng: random.Random) -> str:
    """Ask about whatever is at hand."""
    fact = rng.choice(facts or library.facts(library.document(rng)))
    return f"<question>{library.ask((fact,), rng)}</question>"


def _numbered(number: int, total: int, note: str) -> str:
    """A note that keeps count, so that going on or stopping is a matter of looking at it."""
    return f"{number} of {total}: {note}"


def _think(text: str) -> str:
    return f"<think>{text}</think>" if text else ""
