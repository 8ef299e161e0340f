"""One step of the game: propose, verify, solve, score; then fill up from the pool.

All games of a step run at once. A question is solved as soon as it is verified, while others are still being
proposed. Nothing depends on who finishes first: the noise of a verification comes from neighbours that were
chosen beforehand, and all randomness is derived from names.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from ssp.agents.agent import SearchAgent, Task
from ssp.chat import ChatModel
from ssp.config import Config
from ssp.errors import JudgeError
from ssp.game.pool import Pool, draw
from ssp.game.reward import proposer_reward, solver_reward
from ssp.game.verify import Verifier
from ssp.judges.exact import ExactJudge
from ssp.protocols import Judge
from ssp.rng import derive, python_random
from ssp.types import Attempt, Doc, Episode, ErrorRecord, Outcome, Problem, Role, Seed, Trajectory, Verdict

Redraw = Callable[[int, int], Sequence[Seed]]  # how many seeds, in which round of drawing → other seeds each round


@dataclass(frozen=True, slots=True)
class Draw:
    """One proposal to be made: a seed, and which of the proposals for it this is."""

    seed: Seed
    number: int
    id: str


@dataclass(frozen=True, slots=True)
class Game:
    """The players and the rules. The agent solves, and proposes unless another one does; the verifier has a reader.

    `services` are the models outside that judge and reader ask.
    """

    agent: SearchAgent
    verifier: Verifier
    config: Config
    proposer: SearchAgent | None = None
    judge: Judge = field(default_factory=ExactJudge)
    services: tuple[ChatModel, ...] = ()

    async def close(self) -> None:
        """Let go of what the players hold: engine, searcher, judge, services."""
        await self.agent.engine.close()
        await self.agent.searcher.close()
        await self.judge.close()
        for service in self.services:
            await service.close()

    async def step(self, redraw: Redraw, pool: Pool, step: int, key: int) -> list[Episode]:
        """The games of drawn seeds, in their order, then those of pooled problems."""
        fresh = await self.play(redraw(self.config.game.seeds, 0), step, key)
        wanted = len(fresh)
        rounds = self.config.pool.resample_rounds if self.config.pool.fill == "resample" else 1
        for number in range(1, rounds):
            if more := redraw(-(-(wanted - _valid(fresh)) // self.config.game.proposals), number):
                fresh += await self.play(more, step, key)
        problems = draw(pool, wanted - _valid(fresh), step, self.config.pool, key)
        return [*fresh, *await asyncio.gather(*(self._replay(problem, step, key) for problem in problems))]

    async def play(self, seeds: Sequence[Seed], step: int, key: int, others: Sequence[Seed] = ()) -> list[Episode]:
        """The games of these seeds. Other seeds are proposed for as well, but serve as noise only."""
        played = {seed.id for seed in seeds}
        draws = [
            Draw(seed, number, f"{step:06d}/{seed.id}/{number}")
            for seed in (*seeds, *others)
            for number in range(self.config.game.proposals)
        ]
        proposals = {one.id: asyncio.ensure_future(self._propose(one, key)) for one in draws}
        ring = python_random(key, "neighbours").sample(draws, len(draws))
        place = {one.id: number for number, one in enumerate(ring)}
        games = []
        for one in (one for one in draws if one.seed.id in played):
            after = [ring[(place[one.id] + n) % len(ring)] for n in range(1, len(ring))]
            neighbours = [proposals[other.id] for other in after if other.seed.id != one.seed.id]
            games.append(self._game(one, proposals[one.id], neighbours[: self.config.verify.noise_docs], step, key))
        return list(await asyncio.gather(*games))

    async def _game(
        self,
        one: Draw,
        proposing: "asyncio.Future[Trajectory]",
        neighbours: "Sequence[asyncio.Future[Trajectory]]",
        step: int,
        key: int,
    ) -> Episode:
        """Propose, verify, solve, score."""
        began = perf_counter()
        proposal = await proposing
        proposed = perf_counter()
        others = [await other for other in neighbours]
        began_verifying = perf_counter()
        noise = noise_of(proposal, others, derive(key, one.id))
        problem, verdict = await self.verifier.verify(proposal, one.seed, noise, derive(key, "verify", one.id))
        verified = perf_counter()
        solutions: Sequence[Trajectory] = ()
        if problem is not None and verdict.outcome is Outcome.PASSED:
            solutions = await self._solve(problem, one.id, key)
        attempts, unjudged = await self._judge(problem, solutions) if problem is not None else ((), ())
        seconds = {
            "propose": proposed - began,
            "verify": verified - began_verifying,
            "solve": perf_counter() - verified,
        }
        return Episode(
            id=one.id,
            step=step,
            seed=one.seed,
            proposal=proposal,
            problem=problem,
            verdict=verdict,
            attempts=attempts,
            solutions=tuple(solutions),
            rewards=self._rewards(proposal, verdict, attempts),
            errors=(*_errors([proposal, *solutions]), *unjudged),
            seconds=seconds,
        )

    async def _replay(self, problem: Problem, step: int, key: int) -> Episode:
        """Attempts at a problem from the pool."""
        began = perf_counter()
        name = f"{step:06d}/pool/{problem.id}"
        solutions = await self._solve(problem, name, key)
        attempts, unjudged = await self._judge(problem, solutions)
        return Episode(
            id=name,
            step=step,
            seed=Seed(problem.seed_id, problem.answer, problem.aliases, problem.hops),
            problem=problem,
            verdict=Verdict(Outcome.PASSED, ""),
            attempts=attempts,
            solutions=tuple(solutions),
            rewards={one.trajectory_id: solver_reward(one.correct) for one in attempts},
            errors=(*_errors(solutions), *unjudged),
            pooled=True,
            seconds={"solve": perf_counter() - began},
        )

    async def _propose(self, one: Draw, key: int) -> Trajectory:
        fields: dict[str, str | int] = {"answer": one.seed.answer, "hops": one.seed.hops}
        task = self._task(f"{one.id}/proposal", Role.PROPOSER, fields, key)
        return await (self.proposer or self.agent).run(task)

    async def _solve(self, problem: Problem, name: str, key: int) -> list[Trajectory]:
        """The solver sees the question only."""
        fields: dict[str, str | int] = {"question": problem.question}
        names = [f"{name}/attempt-{number}" for number in range(self.config.game.attempts)]
        return await asyncio.gather(*(self.agent.run(self._task(one, Role.SOLVER, fields, key)) for one in names))

    async def _judge(
        self, problem: Problem, solutions: Sequence[Trajectory]
    ) -> tuple[tuple[Attempt, ...], tuple[ErrorRecord, ...]]:
        """Right or wrong; neither, if search, engine or judge were out of order. Also what the judge complained of."""
        errors: list[ErrorRecord] = []

        async def correct(solution: Trajectory) -> bool | None:
            if solution.status.is_outage:
                return None
            try:
                answer = solution.final
                return answer is not None and await self.judge.same(problem.question, problem.accepted, answer)
            except JudgeError as error:
                errors.append(ErrorRecord("judge", f"{solution.id}: {error}"))
                return None

        verdicts = await asyncio.gather(*map(correct, solutions))
        pairs = zip(solutions, verdicts, strict=True)
        attempts = tuple(Attempt(problem.id, one.id, one.final, verdict) for one, verdict in pairs)
        return attempts, tuple(sorted(errors, key=lambda error: error.message))

    def _task(self, name: str, role: Role, fields: Mapping[str, str | int], key: int) -> Task:
        return Task(name, role, fields, derive(key, name), self.config.game.temperature_of(role))

    def _rewards(self, proposal: Trajectory, verdict: Verdict, attempts: Sequence[Attempt]) -> dict[str, float | None]:
        rewards = {one.trajectory_id: solver_reward(one.correct) for one in attempts}
        return {**rewards, proposal.id: proposer_reward(verdict, list(rewards.values()), self.config.reward)}


def _valid(episodes: Sequence[Episode]) -> int:
    return sum(episode.valid for episode in episodes)


def noise_of(own: Trajectory, others: Sequence[Trajectory], key: int) -> list[Doc]:
    """One document of each neighbour, none of one's own evidence."""
    taken = {doc.id for doc in own.evidence}
    docs = []
    for number, other in enumerate(others):
        offered = [doc for doc in other.evidence if doc.id not in taken]
        if offered:
            docs.append(python_random(key, "noise", number).choice(offered))
            taken.add(docs[-1].id)
    return docs


def _errors(trajectories: Sequence[Trajectory]) -> tuple[ErrorRecord, ...]:
    """What the world did wrong, once for each trajectory."""
    return tuple(
        ErrorRecord("search" if one.searches and one.searches[-1].error else "engine", f"{one.id}: {one.status}")
        for one in trajectories
        if one.status.is_outage
    )
