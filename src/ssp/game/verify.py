"""Verification: is this question sound? Cheap gates first, then readers who see only the proposer's documents."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from ssp.agents.agent import SearchAgent, Task
from ssp.config import VerifyConfig
from ssp.errors import JudgeError
from ssp.game.gates import cheap_checks
from ssp.judges.exact import ExactJudge
from ssp.protocols import Judge
from ssp.rng import derive, python_random
from ssp.types import Check, Doc, Outcome, Problem, Role, Seed, Trajectory, Verdict


@dataclass(frozen=True, slots=True)
class Verifier:
    """Decides about questions with the help of a reader (an agent in the role of answerer) and a judge of answers."""

    reader: SearchAgent
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
    ) -> "_Reading":
        shuffled = list(docs)
        python_random(key, purpose).shuffle(shuffled)
        task = reading_task(f"{problem.id}/{purpose}", problem.question, shuffled, self.reader, derive(key, purpose))
        return await self._judged(problem, await self.reader.run(replace(task, temperature=temperature)))

    async def _judged(self, problem: Problem, reading: Trajectory) -> "_Reading":
        if reading.status.is_outage:
            return _Reading(None, reading.status.value)
        if reading.final is None:
            return _Reading(False, f"the reader gave no answer ({reading.status})")
        try:
            right = await self.judge.same(problem.question, problem.accepted, reading.final)
        except JudgeError as error:
            return _Reading(None, str(error))
        return _Reading(right, f"the reader answered {reading.final!r}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """Whether a reader found the answer, None if that could not be had, and what to say of it."""

    right: bool | None
    said: str

    def check(self, gate: str, wanted: bool) -> Check:
        if self.right is None:
            return Check(gate, Outcome.UNDECIDED, self.said)
        return Check(gate, Outcome.PASSED) if self.right is wanted else Check(gate, Outcome.REJECTED, self.said)


def reading_task(task_id: str, question: str, docs: Sequence[Doc], reader: SearchAgent, key: int) -> Task:
    """A single-turn task: answer from these documents. Greedy, so that a verdict does not hang on luck."""
    shown = "\n".join(reader.prompts.show(tuple(docs)))
    fields: dict[str, str | int] = {"question": question, "documents": shown}
    return Task(task_id, Role.ANSWERER, fields, seed=derive(key, "reader"), temperature=0.0)
