"""How long a step takes: a small one is played, with everything that the run would use."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ssp.config import Config
from ssp.runs.directory import METRICS, RunDirectory
from ssp.runs.ground import prepare
from ssp.runs.training import train
from ssp.runs.watchers import Together

SEEDS = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """What a step with so many seeds took, and what one with all of them will take, if that grows with their number."""

    seeds: int
    of: int
    seconds: float

    @property
    def step(self) -> float:
        return self.seconds * self.of / self.seeds


async def time_a_step(config: Config, progress: Callable[[str, int], None]) -> Trial:
    """Prepare the run in a temporary folder, play two small steps of it, and time the second."""
    seeds = min(SEEDS, config.game.seeds)
    small = {
        "steps": 2,
        "monitors": (),
        "game": config.game.model_copy(update={"seeds": seeds}),
        "eval": config.eval.model_copy(update={"questions": 0, "questions_between": 0}),
    }
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        prepare(config.model_copy(update=small), run, progress)
        await train(run, Together(()))
        *_, last = RunDirectory(run).lines(METRICS)
    return Trial(seeds, config.game.seeds, last["seconds/play"] + last["seconds/update"])
