"""The cheap gates of verification: rules that need no model. Each says what is wrong in a few words, or nothing."""

from collections.abc import Callable, Iterator

from ssp.config import VerifyConfig
from ssp.text import leaks, word_count
from ssp.types import Check, Outcome, Seed, Trajectory

Gate = Callable[[Trajectory, Seed, VerifyConfig], str]


def cheap_checks(proposal: Trajectory, seed: Seed, config: VerifyConfig) -> Iterator[Check]:
    """The gates in order of cost, up to the first that does not pass."""
    gates: list[tuple[str, Gate]] = [("format", _format), ("searched", _searched), ("leak", _leak)]
    if not config.answer_in_queries:
        gates.append(("query", _query))
    if proposal.status.is_outage:
        yield Check("format", Outcome.UNDECIDED, proposal.status.value)
        return
    for name, gate in gates:
        wrong = gate(proposal, seed, config)
        yield Check(name, Outcome.REJECTED if wrong else Outcome.PASSED, wrong)
        if wrong:
            return


def _format(proposal: Trajectory, seed: Seed, config: VerifyConfig) -> str:
    """Words are counted so that Chinese has words too."""
    if proposal.final is None:
        return f"no question ({proposal.status})"
    words = word_count(proposal.final)
    if words < config.least_words:
        return f"{words} words, at least {config.least_words}"
    return f"{words} words, at most {config.most_words}" if words > config.most_words else ""


def _searched(proposal: Trajectory, seed: Seed, config: VerifyConfig) -> str:
    """As many different queries as hops were asked for: fewer means an easier question than wanted."""
    wanted = max(config.min_searches, seed.hops if config.as_many_as_hops else 0)
    different = len({" ".join(call.query.lower().split()) for call in proposal.searches})
    return f"{different} different searches, asked for {wanted}" if different < wanted else ""


def _leak(proposal: Trajectory, seed: Seed, config: VerifyConfig) -> str:
    return "the question contains the answer" if leaks(proposal.final or "", seed.accepted) else ""


def _query(proposal: Trajectory, seed: Seed, config: VerifyConfig) -> str:
    named = any(leaks(call.query, seed.accepted) for call in proposal.searches)
    return "a query contains the answer" if named else ""
