"""The loop: draw, propose, verify, solve, score, credit, update, record; then the same again, with a better player."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import orjson

from ssp.config import Config
from ssp.engines.codec import HfCodec
from ssp.engines.models import save_model
from ssp.errors import SickRun
from ssp.evaluate.questions import Question, answer_questions
from ssp.game.curriculum import solved
from ssp.game.metrics import play_seconds, step_metrics, truth_metrics
from ssp.game.pool import remember
from ssp.game.samples import make_samples
from ssp.game.step import Game
from ssp.learning.torch_learner import TorchLearner
from ssp.rng import derive
from ssp.runs.directory import EVALS, METRICS, RunDirectory
from ssp.runs.health import Alarm, due
from ssp.runs.outages import wait_for
from ssp.runs.seeds import SeedBag
from ssp.runs.watchers import Scores, Watcher
from ssp.types import Episode, RunState
from ssp.worlds.oracle import Oracle


@dataclass(frozen=True, slots=True)
class Loop:
    """A run's parts, put together."""

    config: Config
    run: RunDirectory
    game: Game
    learner: TorchLearner
    seeds: SeedBag
    questions: Mapping[str, Sequence[Question]]  # held out, by set
    watcher: Watcher
    oracle: Oracle | None = None  # of a generated world; only measures

    async def go(self, state: RunState) -> RunState:
        """Play until all steps are done. Every step ends on disk; whatever is cut off has not happened."""
        await self.learner.publish(self.game.agent.engine)
        if state.step == 0:
            await self.evaluate(state.step, self.config.eval.questions)
        while state.step < self.config.steps:
            state = await self.step(state)
        return state

    async def step(self, state: RunState) -> RunState:
        began = perf_counter()
        key = derive(self.config.seed, "step", state.step)
        episodes = await self.game.step(self.seeds.of_step(state.step, state.baselines), state.pool, state.step, key)
        played = perf_counter()
        samples, baselines = make_samples(episodes, self.config, state.step, state.baselines)
        learned = self.learner.update(samples, state.step)
        await self.learner.publish(self.game.agent.engine)
        updated = perf_counter()
        after = self._after(state, episodes, solved(episodes, baselines))
        self.run.record_episodes(episodes)
        recorded = perf_counter()
        seconds = {
            **play_seconds(episodes, played - began),
            "seconds/play": played - began,
            "seconds/update": updated - played,
            "seconds/record": recorded - updated,
        }
        update = {f"update/{name}": value for name, value in learned.items()}
        metrics = {
            "step": state.step,
            "steps": self.config.steps,
            **step_metrics(episodes),
            **(truth_metrics(episodes, self.oracle) if self.oracle else {}),
            **update,
            "pool/size": len(after.pool),
            **seconds,
        }
        self.run.record_metrics(metrics)
        self.watcher.step(metrics)
        alarms = await self._mind_health(state.step)
        after = replace(after, policy_version=self.learner.version)
        await self._evaluate_if_due(after.step)
        self._checkpoint_if_due(after, now=any(alarm.action == "stop" for alarm in alarms))
        stop_if_told(alarms, after.step)
        if any(episode.unjudged for episode in episodes):
            await self._wait_for_services(after.step)
        return after

    def _after(self, state: RunState, episodes: Sequence[Episode], baselines: Mapping[str, float]) -> RunState:
        fresh = [episode.problem for episode in episodes if episode.valid and not episode.pooled and episode.problem]
        results = {
            episode.problem.id: (sum(one.correct is True for one in judged), len(judged))
            for episode in episodes
            if episode.problem and (judged := [one for one in episode.attempts if one.correct is not None])
        }
        return replace(
            state,
            step=state.step + 1,
            cursor=state.cursor + self.config.game.seeds,
            policy_version=self.learner.version,
            pool=remember(state.pool, fresh, results, state.step, self.config.pool),
            baselines=baselines,
        )

    async def _mind_health(self, step: int) -> list[Alarm]:
        """Warn, or take the weights back to before the run fell sick (steps go on, so the games are others)."""
        alarms = due(list(self.run.lines(METRICS)), self.config.health)
        for alarm in alarms:
            self.watcher.alarm(step, alarm)
            if alarm.action == "roll-back":
                self.learner.roll_back(self.run.healthy_checkpoint(self.config.health.window))
                await self.learner.publish(self.game.agent.engine)
        return alarms

    async def _wait_for_services(self, step: int) -> None:
        """What could not be decided is recorded as that; a step in which nothing can be is not begun."""

        def tell(url: str) -> None:
            hint = f"waiting for up to {self.config.health.patience:.0f} seconds (health.patience)"
            self.watcher.alarm(step - 1, Alarm("outage", f"{url} does not answer", hint, "warn"))

        try:
            await wait_for(self.game.services, self.config.health.patience, tell)
        except SickRun as error:
            again = f"ssp train --resume --out {self.run.path}"
            raise SickRun(f"stopped after step {step}, which is saved: {error}. Go on with: {again}") from None

    async def _evaluate_if_due(self, step: int) -> None:
        if step == self.config.steps:
            await self.evaluate(step, self.config.eval.questions)
        elif self.config.eval.every and step % self.config.eval.every == 0:
            await self.evaluate(step, self.config.eval.questions_between)

    async def evaluate(self, step: int, count: int) -> None:
        """Held-out questions, answered greedily by the same agent that plays."""
        began = perf_counter()
        scores: Scores = {}
        for name, questions in self.questions.items():
            answered = await answer_questions(self.game.agent, questions[:count], seed=self.config.seed)
            if answered:
                searches = sum(len(one.trajectory.searches) for one in answered) / len(answered)
                accuracy = sum(one.correct for one in answered) / len(answered)
                scores[name] = {"accuracy": accuracy, "n": len(answered), "searches": searches}
        record = {"step": step, "sets": scores, "seconds": perf_counter() - began}
        self.run.append(EVALS, [orjson.dumps(record)])
        self.watcher.evaluated(step, scores)

    def _checkpoint_if_due(self, state: RunState, *, now: bool) -> None:
        if state.step % self.config.checkpoint.every and state.step != self.config.steps and not now:
            return
        with self.run.new_checkpoint(state) as folder:
            codec = self.game.agent.codec
            assert isinstance(codec, HfCodec)
            save_model(self.learner.model, codec, folder / "model", self.learner.weights())
            self.learner.save(folder)
        self.run.prune(max(self.config.checkpoint.keep, self.config.health.checkpoints_needed))


def stop_if_told(alarms: Sequence[Alarm], step: int) -> None:
    """The last thing in a step: it is saved by now."""
    for alarm in alarms:
        if alarm.action == "stop":
            raise SickRun(f"stopped after step {step}, which is saved: {alarm}")
