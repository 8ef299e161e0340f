"""Verification: is this question sound? Cheap gates first, then readers who see only the proposer's documents."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from ssp.config import VerifyConfig
from ssp.errors import JudgeError
from ssp.game.gates import cheap_checks
from ssp.game.reader import Reader, Reading
from ssp.judges.exact import ExactJudge
from ssp.protocols import Judge
from ssp.rng import derive, python_random
from ssp.types import Check, Doc, Outcome, Problem, Seed, Trajectory, Verdict


@dataclass(frozen=True, slots=True)
class Verifier:
    """Decides about questions with the help of a reader and a judge of answers."""

    reader: Reader
    config: VerifyConfig
    judge: Judge = field(default_factory=ExactJudge)

    async def verify(
        self, proposal: Trajectory, seed: Seed, noise: Sequence[Doc], key: int
    ) -> tuple[Problem | None, Verdict]:
        """The problem, if the proposer kept its contract, and the verdict on it. `noise` are documents of others."""
        checks = list(cheap_checks(proposal, seed, self.config))
        if checks[-1].outcome is not Outcome.PASSED or proposal.final is None:
            return None, Verdict.of(tuple(checks))
        problem = Problem(
            id=f"{proposal.id}/problem",
            seed_id=seed.id,
            question=proposal.final,
            answer=seed.answer,
            aliases=seed.aliases,
            proposal_id=proposal.id,
            hops=seed.hops,
            evidence=proposal.evidence,
        )
        async for check in self._readings(problem, proposal, noise, key):
            checks.append(check)
            if check.outcome is not Outcome.PASSED:
                break
        return problem, Verdict.of(tuple(checks))

    async def _readings(
        self, problem: Problem, proposal: Trajectory, noise: Sequence[Doc], key: int
    ) -> AsyncIterator[Check]:
        """The gates that take a reader, in order of cost."""
        if self.config.rag:
            yield await self._rag(problem, noise, key)
        if self.config.deep and problem.hops > 1:
            yield await self._deep(problem, proposal, key)
        if self.config.closed_book:
            yield await self._closed_book(problem, key)
        if self.config.unique:
            yield await self._unique(problem, key)
        if self.config.necessary:
            yield await self._necessary(problem, key)

    async def _rag(self, problem: Problem, noise: Sequence[Doc], key: int) -> Check:
        """Can the answer be recovered from the evidence, mixed with documents that have nothing to do with it?"""
        own = {doc.id for doc in problem.evidence}
        docs = [*problem.evidence, *(doc for doc in dict.fromkeys(noise) if doc.id not in own)]
        reading = await self._read(problem, docs, "rag", key)
        return reading.check("rag", wanted=True)

    async def _deep(self, problem: Problem, proposal: Trajectory, key: int) -> Check:
        """Who searches often enough may still ask for less: then the last search has found nothing that is needed."""
        last = len(proposal.searches) - 1
        seen = proposal.first_seen
        docs = [doc for doc in problem.evidence if seen[doc.id] < last]
        return await self._unread("deep", problem, docs, "answered without what the last search found", key)

    async def _closed_book(self, problem: Problem, key: int) -> Check:
        """A question that can be answered without documents teaches nobody to search."""
        return await self._unread("closed-book", problem, (), "answered without any document", key)

    async def _unread(self, gate: str, problem: Problem, docs: Sequence[Doc], why: str, key: int) -> Check:
        """These documents must not be enough."""
        reading = await self._read(problem, docs, gate, key)
        return (replace(reading, said=why) if reading.right else reading).check(gate, wanted=False)

    async def _unique(self, problem: Problem, key: int) -> Check:
        """Answers from the evidence, in orders of their own, must all be the answer."""
        for number in range(self.config.unique):
            reading = await self._read(
                problem, problem.evidence, f"unique-{number}", key, temperature=self.config.unique_temperature
            )
            if not reading.right:
                return reading.check("unique", wanted=True)
        return Check("unique", Outcome.PASSED)

    async def _necessary(self, problem: Problem, key: int) -> Check:
        """There must be a document without which the answer is not found: else the question is not about them."""
        for number, missing in enumerate(problem.evidence):
            docs = [doc for doc in problem.evidence if doc.id != missing.id]
            reading = await self._read(problem, docs, f"necessary-{number}", key)
            if not reading.right:
                return reading.check("necessary", wanted=False)
        return Check("necessary", Outcome.REJECTED, "answered whichever document was left out")

    async def _read(
        self, problem: Problem, docs: Sequence[Doc], purpose: str, key: int, temperature: float = 0.0
    ) -> "_Judged":
        shuffled = list(docs)
        python_random(key, purpose).shuffle(shuffled)
        name, seed = f"{problem.id}/{purpose}", derive(key, purpose)
        return await self._judged(problem, await self.reader.read(name, problem.question, shuffled, seed, temperature))

    async def _judged(self, problem: Problem, reading: Reading) -> "_Judged":
        if reading.outage:
            return _Judged(None, reading.why)
        if reading.answer is None:
            return _Judged(False, f"the reader gave no answer ({reading.why})")
        try:
            right = await self.judge.same(problem.question, problem.accepted, reading.answer)
        except JudgeError as error:
            return _Judged(None, str(error))
        return _Judged(right, f"the reader answered {reading.answer!r}")


@dataclass(frozen=True, slots=True)
class _Judged:
    """Whether a reader found the answer, None if that could not be had, and what to say of it."""

    right: bool | None
    said: str

    def check(self, gate: str, wanted: bool) -> Check:
        if self.right is None:
            return Check(gate, Outcome.UNDECIDED, self.said)
        return Check(gate, Outcome.PASSED) if self.right is wanted else Check(gate, Outcome.REJECTED, self.said)
