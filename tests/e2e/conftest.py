"""The real command, as a user runs it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def command() -> list[str]:
    installed = Path(sys.executable).with_name("ssp")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "ssp"]


@pytest.fixture(scope="session", autouse=True)
def _commands_listen_to_interrupts() -> None:
    """Where tests run in the background, Ctrl-C is ignored, and commands that they start would ignore it too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def ssp(tmp_path: Path) -> Run:
    """Run `ssp …` in an empty folder; gives the finished process."""

    def run(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command(), *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "COLUMNS": "200"},
        )

    return run
