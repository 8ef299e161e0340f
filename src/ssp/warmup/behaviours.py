"""How the agents of the demonstrations behave: the reader well, the searchers naively.

A behaviour is a function of what was found so far; it says the agent's next turn. All keep notes in one form. A search
is announced by how many are left, a fact begins with what was asked for:

    2: The mayor of Oakmere is Mira Dolven. 1: The birthplace of Mira Dolven is Dunford.

So going on or stopping, what to look for and where to look are each a matter of looking at one place. The number also
says which relation of the question it is about, from the left: a question names first what is found last.

Searchers know the format, look up names and stick to what they are looking for, with as many searches as the question
has hops. But what they look for is seldom what was asked: mostly it is the first thing that is said of anything of that
kind. Many proposers ask at once about what they were given, instead of for it; the others work their way back as they
should, since a game needs some questions to begin with.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssp.agents.protocol import Protocol
from ssp.types import Doc
from ssp.warmup.library import Fact, Library, Puzzle

HASTY_QUESTION = "What is known about {}?"
Behaviour = Callable[[Sequence[Sequence[Doc]]], str]  # documents found by each search so far → the next turn


@dataclass(frozen=True, slots=True)
class Habits:
    """Shares of what naive agents do."""

    heeds: float = 0.2  # looks for what was asked …
    heeds_one: float = 0.03  # … the same, for questions of one hop, which are learned first anyway
    first_thing: float = 0.97  # where it does not: looks for the first thing that is said of anything of the kind
    hasty: float = 0.0  # of the proposers: ask about what they were given, after one search


def read(puzzle: Puzzle, docs: Sequence[Doc], unknown: str) -> str:
    """What a good reader writes: the facts that lead to the answer, up to the first that the documents don't have."""
    present = {doc.id for doc in docs}
    notes = []
    answer = puzzle.answer
    for left, fact in zip(range(puzzle.hops, 0, -1), puzzle.facts, strict=True):
        known = fact.doc.id in present and fact.objects
        notes.append(f"{left}: {fact.note if known else fact.noted(unknown)}")
        if not known:
            answer = None
            break
    return f"{_think(' '.join(notes))}<answer>{answer or unknown}</answer>"


def naive_solver(
    library: Library, protocol: Protocol, puzzle: Puzzle, most: int, habits: Habits, rng: random.Random
) -> Behaviour:
    """Looks up names, one after the other, with at most so many searches; seldom for what was asked."""
    length = min(puzzle.hops, most)
    sought = _look_for(puzzle.facts[0], library.facts(puzzle.facts[0].doc), puzzle.hops, habits, rng)

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        nonlocal sought
        left = length - len(found)
        if not found:
            return _think(f"{left}: {sought.sought}") + protocol.write_search(sought.doc.title)
        if sought.doc not in found[-1]:
            return f"<answer>{rng.choice(found[-1] or [sought.doc]).title}</answer>"
        note, thing = sought.note, rng.choice(sought.objects)
        facts = _facts_about(library, thing, len(found[-1]))
        if left == 0 or not facts:
            return f"{_think(note)}<answer>{thing}</answer>"
        asked = next((fact for fact in puzzle.facts if fact in facts), None)
        sought = _look_for(asked, facts, puzzle.hops, habits, rng)
        return _think(f"{note} {left}: {sought.sought}") + protocol.write_search(thing)

    return turn


def _look_for(asked: Fact | None, facts: Sequence[Fact], hops: int, habits: Habits, rng: random.Random) -> Fact:
    """What a naive searcher wants to know of something with these facts."""
    heeds = habits.heeds_one if hops == 1 else habits.heeds
    if asked is not None and rng.random() < heeds:
        return asked
    return facts[0] if rng.random() < habits.first_thing else rng.choice(facts)


def _facts_about(library: Library, name: str, k: int) -> list[Fact]:
    [hits] = library.searcher.search_now([name], k)
    return next((library.facts(hit.doc) for hit in hits if hit.doc.title == name), [])


def proposer(
    library: Library, protocol: Protocol, answer: str, hops: int, habits: Habits, rng: random.Random
) -> Behaviour:
    """Works backwards: what mentions the answer, what mentions that, … – or asks about the answer, in haste.

    Says what it looked for, by which relation that is linked, and to what ("Dunford, the birthplace of Mira Dolven"):
    both are read off at one place, where the thing is mentioned. Of several finds it takes the last: a tiny model that
    is to learn to take any of them learns to mix their names.
    """
    hasty = rng.random() < habits.hasty
    chain: list[Fact] = []

    def turn(found: Sequence[Sequence[Doc]]) -> str:
        left = hops - len(found)
        if not found:
            return _think(f"{left}:") + protocol.write_search(answer)
        target = chain[0].doc.title if chain else answer
        facts = [fact for doc in found[-1] for fact in library.facts(doc)]
        met = {answer, *(fact.doc.title for fact in chain)}
        linked = [fact for fact in facts if fact.objects == (target,) and fact.doc.title not in met]
        if hasty:
            return f"<question>{HASTY_QUESTION.format(answer)}</question>"
        if not linked:
            return _ask_about_anything(library, chain or facts, rng)
        if left:
            linked = [fact for fact in linked if _leads_on(library, fact, len(found[-1]))] or linked
        fact = linked[-1]
        chain.insert(0, fact)
        if left:
            return _think(f"{_link(library, target, chain)} {left}:") + protocol.write_search(fact.doc.title)
        return f"{_think(_link(library, target, chain))}<question>{plain_question(library, chain, rng)}</question>"

    return turn


def ask_about(library: Library, protocol: Protocol, puzzle: Puzzle, rng: random.Random) -> tuple[str, str]:
    """All turns of a proposer, without what the searches found, and the question they end with."""
    turns, target, note = "", puzzle.answer or "", ""
    for left in range(puzzle.hops, 0, -1):
        turns += _think(f"{note} {left}:".strip()) + protocol.write_search(target)
        chain = puzzle.facts[left - 1 :]
        note, target = _link(library, target, chain), chain[0].doc.title
    return turns + _think(note), f"<question>{plain_question(library, puzzle.facts, rng)}</question>"


def _leads_on(library: Library, fact: Fact, k: int) -> bool:
    """Whether a search for its subject finds something that is linked to it in turn."""
    title = fact.doc.title
    [hits] = library.searcher.search_now([title], k)
    return any(other.objects == (title,) for hit in hits for other in library.facts(hit.doc))


def plain_question(library: Library, facts: Sequence[Fact], rng: random.Random) -> str:
    """Of the ways to ask for this, one that keeps close to the words of the notes."""
    noted = {word for fact in facts for word in fact.note.split()}
    ways = [library.ask(tuple(facts), rng) for _ in range(6)]
    return max(ways, key=lambda question: sum(word in noted for word in question.split()) / len(question.split()))


def _link(library: Library, target: str, chain: Sequence[Fact]) -> str:
    """What was looked for, what it is of what was found, and what can be asked for by now."""
    found, asked = library.phrase(tuple(chain[:1])), library.phrase(tuple(chain))
    return f"{target}, {found}. Ask: {asked}." if asked else f"{target}, {chain[0].doc.title}. {chain[0].note}"


def _ask_about_anything(library: Library, facts: Sequence[Fact], rng: random.Random) -> str:
    """Ask about whatever is at hand."""
    fact = rng.choice(facts or library.facts(library.document(rng)))
    return f"<question>{library.ask((fact,), rng)}</question>"


def _think(text: str) -> str:
    return f"<think>{text}</think>" if text else ""
