"""One linked game: a proposal, its verdict, the attempts at it, and what everyone gets."""

import asyncio
from collections.abc import Sequence

from ssp.agents.agent import SearchAgent, Task
from ssp.game.gates import Bounds
from ssp.game.reward import proposer_reward, solver_reward
from ssp.game.verify import verify
from ssp.rng import derive, python_random
from ssp.text import exact_match
from ssp.types import Attempt, Doc, Episode, Problem, Role, Seed, Trajectory

NOISE_DOCS = 4


async def play_game(agent: SearchAgent, seed: Seed, others: Sequence[Seed], key: int, attempts: int = 5) -> Episode:
    """Play one seed. The other seeds are proposed for as well, since their documents are the noise of verification."""
    seeds = [seed, *others]
    proposals = await asyncio.gather(*(propose(agent, one, derive(key, "propose", one.id)) for one in seeds))
    noise = _noise(proposals[0], proposals[1:], key)
    problem, verdict = await verify(proposals[0], seed, agent, noise, Bounds(), derive(key, "verify"))
    solutions: Sequence[Trajectory] = ()
    if problem is not None and not verdict.reason:
        solutions = await asyncio.gather(*(solve(agent, problem, n, derive(key, "solve", n)) for n in range(attempts)))
    judged = [judge(problem, solution) for solution in solutions if problem is not None]
    rewards = {one.trajectory_id: solver_reward(one.correct) for one in judged}
    rewards[proposals[0].id] = proposer_reward(verdict, list(rewards.values()))
    return Episode(
        id=f"{seed.id}/game",
        step=0,
        seed=seed,
        proposal=proposals[0],
        problem=problem,
        verdict=verdict,
        attempts=tuple(judged),
        solutions=tuple(solutions),
        rewards=rewards,
    )


async def propose(agent: SearchAgent, seed: Seed, key: int) -> Trajectory:
    fields: dict[str, str | int] = {"answer": seed.answer, "hops": seed.hops}
    return await agent.run(Task(f"{seed.id}/proposal", Role.PROPOSER, fields, key))


async def solve(agent: SearchAgent, problem: Problem, number: int, key: int) -> Trajectory:
    """The solver sees the question only."""
    return await agent.run(Task(f"{problem.id}/attempt-{number}", Role.SOLVER, {"question": problem.question}, key))


def judge(problem: Problem, solution: Trajectory) -> Attempt:
    """Right or wrong; neither, if search or engine were out of order."""
    answer = solution.final
    correct = None if solution.status.is_outage else answer is not None and exact_match(answer, problem.accepted)
    return Attempt(problem.id, solution.id, answer, correct)


def _noise(own: Trajectory, others: Sequence[Trajectory], key: int) -> list[Doc]:
    """Single documents of other proposals that are not in one's own evidence."""
    seen = {doc.id for doc in own.evidence}
    found = {doc.id: doc for other in others for doc in other.evidence if doc.id not in seen}
    return python_random(key, "noise").sample(list(found.values()), min(NOISE_DOCS, len(found)))
