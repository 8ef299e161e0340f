"""How the agents of the demonstrations behave: the reader well, the searchers naively.

A behaviour is a function of what was found so far; it says the agent's next turn. Searchers know the format, look up
names, quote a sentence, and go on or stop. Which sentence they quote is mostly wrong: usually the first of what they
found, whatever was asked. How many searches they make leans on the question. Proposers are right more often, since a
game needs some questions to begin with.
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
    """Shares of what naive agents do. Measured effects of each are in docs/log.md."""

    searches_name: float = 0.8  # the first query is the name in the question, else the whole question
    quotes_first: float = 0.5  # the first sentence found
    quotes_right: float = 0.15  # the sentence that was asked for; else any sentence
    right_length: float = 0.6  # as many searches as the question has hops; else one fewer or one more
    proposes_right: float = 0.6


def read(puzzle: Puzzle, docs: Sequence[Doc], unknown: str) -> str:
    """What a good reader writes: the sentences that lead to the answer, as far as the documents have them."""
    present = {doc.id for doc in docs}
    quoted = []
    for fact in puzzle.facts:
        if fact.doc.id not in present or not fact.note:
            break
        quoted.append(fact.note)
    known = puzzle.answer is not None and len(quoted) == puzzle.hops
    return f"{_think(' '.join(quoted))}<answer>{puzzle.answer if known else unknown}</answer>"


def naive_solver(library: Library, protocol: Protocol, puzzle: Puzzle, habits: Habits, rng: random.Random) -> Behaviour:
    """Looks up names and quotes sentences, seldom the right ones."""
    length = puzzle.hops
    if rng.random() >= habits.right_length:
        length += rng.choice((-1, 1))
    length = max(1, length)

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        if not found:
            by_name = rng.random() < habits.searches_name
            return protocol.write_search(puzzle.facts[0].doc.title if by_name else puzzle.question)
        fact = _naive_choice(library, puzzle, found, habits, rng)
        if fact is None:
            return f"<answer>{rng.choice(found[-1] or found[0] or [library.document(rng)]).title}</answer>"
        thing = rng.choice(fact.objects)
        action = protocol.write_search(thing) if len(found) < length else f"<answer>{thing}</answer>"
        return _think(fact.note) + action

    return turn


def _naive_choice(
    library: Library, puzzle: Puzzle, found: Sequence[Sequence[Doc]], habits: Habits, rng: random.Random
) -> Fact | None:
    facts = [fact for doc in found[-1] for fact in library.facts(doc)]
    right = [fact for fact in puzzle.facts if fact in facts]
    draw = rng.random()
    if right and draw < habits.quotes_right:
        return right[-1]
    if facts and draw < habits.quotes_right + habits.quotes_first:
        return facts[0]
    return rng.choice(facts) if facts else None


def proposer(
    library: Library, protocol: Protocol, answer: str, hops: int, habits: Habits, rng: random.Random
) -> Behaviour:
    """Works backwards: what mentions the answer, what mentions that, …; sometimes carelessly."""
    careless = rng.random() >= habits.proposes_right
    length = max(1, hops - 1) if careless and rng.random() < 0.3 else hops
    chain: list[Fact] = []

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        if not found:
            return protocol.write_search(answer)
        target = chain[0].doc.title if chain else answer
        facts = [fact for doc in found[-1] for fact in library.facts(doc)]
        linked = [fact for fact in facts if fact.objects == (target,) and fact not in chain]
        if careless and not chain and rng.random() < 0.6:
            linked = facts
        if not linked:
            return _give_up(library, chain or facts, rng)
        fact = rng.choice(linked)
        chain.insert(0, fact)
        if len(found) < length:
            return _think(fact.note) + protocol.write_search(fact.doc.title)
        return f"{_think(fact.note)}<question>{library.ask(tuple(chain), rng)}</question>"

    return turn


def _give_up(library: Library, facts: Sequence[Fact], rng: random.Random) -> str:
    """Ask about whatever is at hand."""
    fact = rng.choice(facts or library.facts(library.document(rng)))
    return f"<question>{library.ask((fact,), rng)}</question>"


def _think(text: str) -> str:
    return f"<think>{text}</think>" if text else ""
