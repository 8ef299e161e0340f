"""A server of vLLM that we start and stop."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from ssp.environment import vllm_server_environment
from ssp.errors import EngineError
from ssp.extras import import_extra

_POLITELY = 20.0  # seconds for a server to end by itself
_CAUSE = ("Error:", "error:")


class VllmProcess:
    """`vllm serve` on a port of this machine, in a group of processes of its own; what it says goes to a log."""

    def __init__(self, model: Path, arguments: Mapping[str, Any], port: int | None = None) -> None:
        import_extra("vllm", extra="vllm", feature="a server of vLLM")
        descriptor, name = tempfile.mkstemp(prefix="ssp-vllm-", suffix=".log")
        self._log = Path(name)
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        options = [part for name, value in arguments.items() for part in _option(name, value)]
        command = [
            sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model),
            "--host", "127.0.0.1", "--port", str(self.port), "--disable-uvicorn-access-log", *options,
        ]  # fmt: skip
        with os.fdopen(descriptor, "ab") as file:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=vllm_server_environment(),
                start_new_session=True,
            )
        atexit.register(self.stop)

    def wait_until_ready(self, seconds: float = 600.0) -> None:
        """Until it answers; an error with what it said last, if it ends before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise EngineError(f"a server of vLLM does not start: {self._last_words()}")
            try:
                if httpx.get(f"{self.url}/health", timeout=2.0).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.5)
        raise EngineError(f"a server of vLLM was not ready after {seconds:.0f} seconds: {self._last_words()}")

    def stop(self) -> None:
        """End it and all that it started: politely, then not. Its log is removed."""
        atexit.unregister(self.stop)
        for number, patience in ((signal.SIGTERM, _POLITELY), (signal.SIGKILL, _POLITELY)):
            if self._process.poll() is None:
                self._signal(number)
            try:
                self._process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                continue
        self._signal(signal.SIGKILL)  # its workers, if it left any
        self._log.unlink(missing_ok=True)

    def kill(self) -> None:
        """As a crash would."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        causes = [line for line in lines if any(mark in line for mark in _CAUSE)]
        return (causes or lines or ["it said nothing"])[-1][-300:].strip()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    return [flag, str(value)]
