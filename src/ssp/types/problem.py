"""A question that may be played, and the verdict on it."""

from dataclasses import dataclass
from enum import StrEnum

from ssp.types.check import require
from ssp.types.documents import Doc


@dataclass(frozen=True, slots=True)
class Problem:
    """A question with its answer and the proposer's evidence. Exists only when the proposer kept its contract.

    >>> Problem(
    ...     id="p1", seed_id="s1", question="Where was Mira Dolven born?", answer="Oakmere",
    ...     evidence=(Doc("d7", "Mira Dolven", "Mira Dolven was born in Oakmere."),),
    ...     proposal_id="t1", hops=1,
    ... ).accepted
    ('Oakmere',)
    """

    id: str
    seed_id: str
    question: str
    answer: str
    proposal_id: str
    hops: int
    aliases: tuple[str, ...] = ()
    evidence: tuple[Doc, ...] = ()

    def __post_init__(self) -> None:
        require(self.id != "" and self.seed_id != "" and self.proposal_id != "", "a Problem links by ids")
        require(self.question.strip() != "", f"problem {self.id} has an empty question")
        require(self.answer.strip() != "", f"problem {self.id} has an empty answer")
        require(self.hops >= 1, f"problem {self.id} has {self.hops} hops")
        ids = [doc.id for doc in self.evidence]
        require(len(ids) == len(set(ids)), f"problem {self.id} repeats an evidence document")

    @property
    def accepted(self) -> tuple[str, ...]:
        """The answer and its aliases: any of them is right."""
        return (self.answer, *self.aliases)


class Outcome(StrEnum):
    """Three-valued: an outage is neither a pass nor a failure."""

    PASSED = "passed"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Check:
    """One gate's result, for the funnel.

    >>> Check("leak", Outcome.REJECTED, "the question contains the answer").gate
    'leak'
    """

    gate: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verification decided: the gates in the order in which they ran, and the outcome they add up to.

    >>> Verdict.of((Check("format", Outcome.PASSED), Check("rag", Outcome.UNDECIDED, "judge is down"))).reason
    'rag: judge is down'
    """

    outcome: Outcome
    reason: str
    checks: tuple[Check, ...] = ()

    def __post_init__(self) -> None:
        require((self.reason == "") == (self.outcome is Outcome.PASSED), f"{self.outcome} with {self.reason!r}")
        if self.outcome is Outcome.PASSED:
            require(all(c.outcome is Outcome.PASSED for c in self.checks), "passed, but a gate did not pass")

    @classmethod
    def of(cls, checks: tuple[Check, ...]) -> "Verdict":
        """The verdict that the checks add up to: the first gate that did not pass decides."""
        for check in checks:
            if check.outcome is not Outcome.PASSED:
                reason = f"{check.gate}: {check.detail}" if check.detail else check.gate
                return cls(check.outcome, reason, checks)
        return cls(Outcome.PASSED, "", checks)
