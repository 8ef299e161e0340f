"""Weights & Biases. Who is logged in, which project and whether offline is said by its own WANDB_… variables."""

from collections.abc import Mapping
from pathlib import Path

_SECONDS_TO_CONNECT = 30


class Wandb:
    """One W&B run for each run directory; a resumed run goes on with it."""

    def __init__(self, run: Path, config: Mapping[str, object], step: int) -> None:
        import wandb

        name = run.resolve().name
        self._run = wandb.init(
            name=name,
            id=name,
            dir=str(run),
            config=dict(config),
            resume="allow",
            settings=wandb.Settings(init_timeout=_SECONDS_TO_CONNECT, silent=True),
        )

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self._run.log(dict(metrics), step=step)

    def close(self) -> None:
        self._run.finish()
