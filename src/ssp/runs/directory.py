"""The run directory: what a run leaves behind, written so that a crash at any byte loses at most the current step.

Logs are only ever appended to; a checkpoint says how long each of them was when it was made. Going on from a
checkpoint cuts the logs back to that, so whatever was written after it, whole or half, is as if it had not been.
"""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ssp.errors import DataError
from ssp.files import new_directory
from ssp.records import decode, encode
from ssp.types import Episode, RunState

EPISODES, METRICS, EVALS = "episodes.jsonl", "metrics.jsonl", "evals.jsonl"
LOGS = (EPISODES, METRICS, EVALS)
_STEP = re.compile(r"step-(\d{6,})")


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """A run on disk. Open it with `locked`, so that two processes can't write to it at once."""

    path: Path

    @classmethod
    @contextmanager
    def locked(cls, path: Path) -> "Iterator[RunDirectory]":
        if not (path / "config.json").is_file() or not (path / "checkpoints").is_dir():
            raise DataError(f"{path} is no run directory (it needs config.json and checkpoints/)")
        with (path / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise DataError(f"{path} is being written by another process; wait for it, or stop it") from None
            yield cls(path)

    def append(self, log: str, lines: list[bytes]) -> None:
        """Lines at the end of a log, on disk when this returns."""
        with (self.path / log).open("ab") as file:
            file.write(b"".join(line + b"\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())

    def record_episodes(self, episodes: Sequence[Episode]) -> None:
        self.append(EPISODES, [encode(episode) for episode in episodes])

    def record_metrics(self, metrics: Mapping[str, Any]) -> None:
        self.append(METRICS, [orjson.dumps(metrics)])

    def lines(self, log: str) -> Iterator[dict[str, Any]]:
        """The records of a log; of a run that is being written, the whole lines."""
        path = self.path / log
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                if line.endswith(b"\n"):
                    yield self._parsed(line, log)

    def _parsed(self, line: bytes, log: str) -> dict[str, Any]:
        try:
            record: dict[str, Any] = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"{self.path / log} is damaged ({error}); restore it from a copy") from None
        return record

    @contextmanager
    def new_checkpoint(self, state: RunState) -> Iterator[Path]:
        """A directory to save model and optimizer in; becomes the checkpoint, with the state, when the block ends."""
        folder = self.path / "checkpoints" / f"step-{state.step:06d}"
        with new_directory(folder, "checkpoint") as scratch:
            yield scratch
            lengths = {log: _length(self.path / log) for log in LOGS}
            (scratch / "state.json").write_bytes(encode(state) + b"\n")
            files = {str(file.relative_to(scratch)): _digest(file) for file in sorted(scratch.rglob("*.*"))}
            manifest = orjson.dumps({"logs": lengths, "sha256": files}, option=orjson.OPT_INDENT_2)
            (scratch / "manifest.json").write_bytes(manifest)

    def restore(self, seed: int) -> tuple[RunState, Path]:
        """The state of the newest checkpoint, and where it is. Logs are cut back to it; leftovers are removed."""
        for leftover in (self.path / "checkpoints").glob(".*.partial"):
            shutil.rmtree(leftover, ignore_errors=True)
        newest = self.checkpoints()[-1]
        if not (newest / "manifest.json").exists():  # the first one, made before any step: a model only
            self._cut(dict.fromkeys(LOGS, 0))
            return RunState(seed=seed), newest
        try:
            manifest = orjson.loads((newest / "manifest.json").read_bytes())
            damaged = [name for name, digest in manifest["sha256"].items() if _digest(newest / name) != digest]
        except (OSError, KeyError, orjson.JSONDecodeError) as error:
            raise DataError(f"{newest} is damaged ({error}); remove it to go on from the one before") from None
        if damaged:
            raise DataError(f"{newest} is damaged ({damaged[0]} was changed); remove it to go on from the one before")
        self._cut(manifest["logs"])
        return decode(RunState, (newest / "state.json").read_bytes(), str(newest / "state.json")), newest

    def checkpoints(self) -> list[Path]:
        """All checkpoints, oldest first."""
        found = [entry for entry in (self.path / "checkpoints").iterdir() if _STEP.fullmatch(entry.name)]
        if not found:
            raise DataError(f"{self.path} has no checkpoint")
        return sorted(found, key=lambda entry: int(entry.name.removeprefix("step-")))

    def healthy_checkpoint(self, window: int) -> Path:
        """The newest one that is older than the last so many steps; else the first."""
        all_of_them = self.checkpoints()
        newest = int(all_of_them[-1].name.removeprefix("step-"))
        older = [one for one in all_of_them if int(one.name.removeprefix("step-")) <= newest - window]
        return older[-1] if older else all_of_them[0]

    def prune(self, keep: int) -> None:
        """Keep the first checkpoint and the newest ones."""
        for old in self.checkpoints()[1:-keep]:
            shutil.rmtree(old)

    def _cut(self, lengths: Mapping[str, int]) -> None:
        for log, length in lengths.items():
            path = self.path / log
            if _length(path) < length:
                raise DataError(f"{path} is shorter than its checkpoint says; restore it from a copy")
            if path.exists():
                os.truncate(path, length)


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
