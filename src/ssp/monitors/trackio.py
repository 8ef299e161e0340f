"""Trackio: a local dashboard (trackio show), or one on the hub if its TRACKIO_… variables say so."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


class Trackio:
    """One trackio run for each run directory; a resumed run goes on with it.

    What trackio prints goes to standard error: standard output is for a command's answer.
    """

    def __init__(self, run: Path, config: Mapping[str, object], step: int) -> None:
        import trackio

        self._trackio: Any = trackio
        with redirect_stdout(sys.stderr):
            trackio.init(project="ssp", name=run.resolve().name, config=dict(config), resume="allow")

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        with redirect_stdout(sys.stderr):
            self._trackio.log(dict(metrics), step=step)

    def close(self) -> None:
        with redirect_stdout(sys.stderr):
            self._trackio.finish()
