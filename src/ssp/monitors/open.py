"""Opening the trackers of a configuration, so that none of them can stop a run."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from ssp.errors import ConfigError
from ssp.monitors.tensorboard import TensorBoard
from ssp.monitors.trackio import Trackio
from ssp.monitors.wandb import Wandb
from ssp.protocols import Monitor

Complain = Callable[[str], None]
KINDS: Mapping[str, Callable[[Path, Mapping[str, object], int], Monitor]] = {
    "tensorboard": TensorBoard,
    "trackio": Trackio,
    "wandb": Wandb,
}


def require_installed(names: Sequence[str]) -> None:
    """Said before a run begins, not hours into it."""
    for name in names:
        if find_spec(name) is None:
            raise ConfigError(f"monitors: {name} is not installed; get it with: pip install 'ssp[track]'")


def open_monitors(
    names: Sequence[str], run: Path, config: Mapping[str, object], step: int, complain: Complain
) -> "Guarded":
    """All trackers of these names; one that can't be opened is complained about and left out."""
    opened: dict[str, Monitor] = {}
    for name in names:
        try:
            opened[name] = KINDS[name](run, config, step)
        except Exception as error:  # noqa: BLE001  trackers raise what they like, and none of it concerns the run
            complain(_complaint(name, error))
    return Guarded(opened, complain)


class Guarded:
    """Several monitors as one that never fails: one that does is complained about once and left out from then on."""

    def __init__(self, monitors: Mapping[str, Monitor], complain: Complain) -> None:
        self._monitors = dict(monitors)
        self._complain = complain

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self._each(lambda monitor: monitor.log(step, metrics))

    def close(self) -> None:
        self._each(lambda monitor: monitor.close())

    def _each(self, action: Callable[[Monitor], None]) -> None:
        for name, monitor in list(self._monitors.items()):
            try:
                action(monitor)
            except Exception as error:  # noqa: BLE001  see above
                del self._monitors[name]
                self._complain(_complaint(name, error))


def _complaint(name: str, error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return f"the monitor {name} is out of order, the run goes on without it: {text.splitlines()[0]}"
