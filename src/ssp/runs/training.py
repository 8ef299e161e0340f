"""Putting a run together, from its directory, and letting it go."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssp.config import Config
from ssp.engines.models import device_of, dtype_of, learning_dtype, load_model
from ssp.evaluate.questions import Question
from ssp.evaluate.sets import named_sets, read_set
from ssp.learning.adapters import add_adapters
from ssp.learning.torch_learner import OPTIMIZER, TorchLearner
from ssp.monitors.open import Complain, open_monitors
from ssp.rng import derive
from ssp.runs.directory import RunDirectory
from ssp.runs.ground import FIRST_CHECKPOINT
from ssp.runs.loop import Loop
from ssp.runs.players import make_agent, make_game, read_run_config, run_searcher
from ssp.runs.seeds import SeedBag, is_reserved, possible_shares, seeds_file
from ssp.runs.watchers import Together, Tracked, Watcher
from ssp.seeds.files import read_seeds
from ssp.types import Role, RunState
from ssp.worlds.oracle import Oracle

_LOG = logging.getLogger(__name__)


async def train(path: Path, watcher: Watcher, steps: int | None = None, complain: Complain = _LOG.warning) -> RunState:
    """Play a prepared run to its end, or go on with it from its newest checkpoint.

    `steps` lets a run go on longer than it was configured for. `complain` hears of trackers that are out of order.
    """
    config = read_run_config(path)
    if steps is not None:
        config = config.model_copy(update={"steps": steps})
    with RunDirectory.locked(path) as run:
        state, checkpoint = run.restore(config.seed)
        if state.step >= config.steps:
            return state
        monitors = open_monitors(config.monitors, path, config.model_dump(mode="json"), state.step, complain)
        loop = assemble(config, run, checkpoint, Together([watcher, Tracked(monitors)]))
        try:
            return await loop.go(state)
        finally:
            monitors.close()
            await loop.game.close()


def assemble(config: Config, run: RunDirectory, checkpoint: Path, watcher: Watcher) -> Loop:
    """All parts, in the state of a checkpoint."""
    agent = make_agent(config, checkpoint / "model", run_searcher(config, run.path))
    start = run.path / FIRST_CHECKPOINT / "model"
    learner = make_learner(config, start, checkpoint)
    answers = [one for one in read_seeds(seeds_file(run.path)) if not is_reserved(one, config)]
    shares = config.game.hops if config.corpus == "world" else possible_shares(answers, config.game.hops)
    seeds = SeedBag(answers, shares, config.seed, config.game.curriculum)
    oracle = Oracle.load(run.path / "world") if config.corpus == "world" else None
    questions = {**held_out(run.path), **named_sets(config.eval)}
    return Loop(config, run, make_game(config, agent, start), learner, seeds, questions, watcher, oracle)


def make_learner(config: Config, start: Path, checkpoint: Path) -> TorchLearner:
    """The learner in the state of a checkpoint: all weights, or adapters on top of those that the run began with."""
    device, dtype = device_of(config.model), dtype_of(config.model)
    reference = None
    if config.lora.rank:
        model, _ = load_model(start, dtype=dtype, device=device)
        above, seed = config.learner.frozen_layers, derive(config.seed, "adapters")
        add_adapters(model, config.lora, above=above, seed=seed)
    else:
        model, _ = load_model(checkpoint / "model", device=device)
        if config.learner.kl > 0.0:
            reference = load_model(start, dtype=dtype, device=device)[0].eval()
    temperatures = {role: config.game.temperature_of(role) for role in (Role.PROPOSER, Role.SOLVER)}
    learner = TorchLearner(
        model,
        config.learner,
        steps=config.steps,
        temperatures=temperatures,
        reference=reference,
        dtype=learning_dtype(config),
    )
    if (checkpoint / OPTIMIZER).exists():
        learner.load(checkpoint)
    return learner


def held_out(run: Path) -> Mapping[str, list[Question]]:
    """The world's evaluation questions, by set."""
    file = run / "world" / "questions.jsonl"
    sets: dict[str, list[Question]] = {}
    for one in read_set(file) if file.exists() else ():
        sets.setdefault(f"world-{one.hops}", []).append(one)
    return dict(sorted(sets.items()))


def summary(path: Path) -> dict[str, Any]:
    """Before and after, from the run's logs."""
    run = RunDirectory(path)
    evals = list(run.lines("evals.jsonl"))
    metrics = list(run.lines("metrics.jsonl"))
    totals: dict[str, int] = {}
    for record in metrics:
        for name, value in record.items():
            if name.startswith("funnel/"):
                totals[name.removeprefix("funnel/")] = totals.get(name.removeprefix("funnel/"), 0) + int(value)
    return {
        "run": str(run.path),
        "steps": len(metrics),
        "eval": {"start": evals[0]["sets"] if evals else {}, "final": evals[-1]["sets"] if evals else {}},
        "funnel": totals,
    }
