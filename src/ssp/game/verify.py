"""Verification: is this question sound? Cheap gates first, then a reader who sees only the proposer's documents."""

from collections.abc import Sequence

from ssp.agents.agent import SearchAgent, Task
from ssp.game.gates import Bounds, cheap_checks
from ssp.rng import derive, python_random
from ssp.text import exact_match
from ssp.types import Check, Doc, Outcome, Problem, Role, Seed, Trajectory, Verdict


async def verify(
    proposal: Trajectory, seed: Seed, reader: SearchAgent, noise: Sequence[Doc], bounds: Bounds, key: int
) -> tuple[Problem | None, Verdict]:
    """The problem, if the proposer kept its contract, and the verdict on it. `noise` are documents of others."""
    checks = tuple(cheap_checks(proposal, seed, bounds))
    if checks[-1].outcome is not Outcome.PASSED or proposal.final is None:
        return None, Verdict.of(checks)
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
    return problem, Verdict.of((*checks, await rag_check(problem, reader, noise, key)))


async def rag_check(problem: Problem, reader: SearchAgent, noise: Sequence[Doc], key: int) -> Check:
    """Can the answer be recovered from the evidence, mixed with documents that have nothing to do with it?"""
    own = {doc.id for doc in problem.evidence}
    docs = [*problem.evidence, *(doc for doc in dict.fromkeys(noise) if doc.id not in own)]
    python_random(key, "shuffle").shuffle(docs)
    reading = await reader.run(reading_task(f"{problem.id}/reading", problem.question, docs, reader, key))
    if reading.status.is_outage:
        return Check("rag", Outcome.UNDECIDED, reading.status.value)
    if reading.final is None:
        return Check("rag", Outcome.REJECTED, f"the reader gave no answer ({reading.status})")
    if exact_match(reading.final, problem.accepted):
        return Check("rag", Outcome.PASSED)
    return Check("rag", Outcome.REJECTED, f"the reader answered {reading.final!r}")


def reading_task(task_id: str, question: str, docs: Sequence[Doc], reader: SearchAgent, key: int) -> Task:
    """A single-turn task: answer from these documents. Greedy, so that a verdict does not hang on luck."""
    shown = "\n".join(reader.prompts.show(tuple(docs)))
    fields: dict[str, str | int] = {"question": question, "documents": shown}
    return Task(task_id, Role.ANSWERER, fields, seed=derive(key, "reader"), temperature=0.0)
