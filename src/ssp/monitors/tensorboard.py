"""TensorBoard: event files in the run directory."""

from collections.abc import Mapping
from pathlib import Path


class TensorBoard:
    """Writes to `RUN/tensorboard`; look at it with: tensorboard --logdir RUN."""

    def __init__(self, run: Path, config: Mapping[str, object], step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(run / "tensorboard"), purge_step=step + 1)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
