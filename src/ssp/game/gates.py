"""The cheap gates of verification: rules that need no model. Each says what is wrong in a few words, or nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ssp.text import leaks, word_count
from ssp.types import Check, Outcome, Seed, Trajectory


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a question has to keep. Words are counted so that Chinese has words too."""

    least_words: int = 4
    most_words: int = 100
    least_searches: int = 1


def cheap_checks(proposal: Trajectory, seed: Seed, bounds: Bounds) -> Iterator[Check]:
    """The gates in order of cost, up to the first that does not pass."""
    gates: tuple[tuple[str, Callable[[Trajectory, Seed, Bounds], str]], ...] = (
        ("format", _format),
        ("searched", _searched),
        ("leak", _leak),
    )
    if proposal.status.is_outage:
        yield Check("format", Outcome.UNDECIDED, proposal.status.value)
        return
    for name, gate in gates:
        wrong = gate(proposal, seed, bounds)
        yield Check(name, Outcome.REJECTED if wrong else Outcome.PASSED, wrong)
        if wrong:
            return


def _format(proposal: Trajectory, seed: Seed, bounds: Bounds) -> str:
    if proposal.final is None:
        return f"no question ({proposal.status})"
    words = word_count(proposal.final)
    if words < bounds.least_words:
        return f"{words} words, at least {bounds.least_words}"
    return f"{words} words, at most {bounds.most_words}" if words > bounds.most_words else ""


def _searched(proposal: Trajectory, seed: Seed, bounds: Bounds) -> str:
    """As many different queries as hops were asked for: fewer means an easier question than wanted."""
    wanted = max(bounds.least_searches, seed.hops)
    different = len({" ".join(call.query.lower().split()) for call in proposal.searches})
    return f"{different} different searches, asked for {wanted}" if different < wanted else ""


def _leak(proposal: Trajectory, seed: Seed, bounds: Bounds) -> str:
    return "the question contains the answer" if leaks(proposal.final or "", seed.accepted) else ""
