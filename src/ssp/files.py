"""Writing that a crash can't leave half done."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ssp.errors import DataError


@contextmanager
def new_directory(target: Path, what: str) -> Iterator[Path]:
    """Yield a scratch directory beside `target` that becomes `target` when the block ends well.

    An existing target is refused before any work is done. When the block fails or is interrupted, the scratch
    directory is removed and nothing is left behind.
    """
    target = target.expanduser().resolve()
    refuse_existing(target, what)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise DataError(f"can't write {target}: {error.strerror}") from None
    try:
        yield scratch
        _publish(scratch, target, what)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a path beside `target` to write to; it becomes `target` when the block ends well, else nothing is left."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.part")
    try:
        yield scratch
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def refuse_existing(target: Path, what: str) -> None:
    """A product is never overwritten: say so before any work is done."""
    target = target.expanduser()
    try:
        taken = target.exists() and not (target.is_dir() and not any(target.iterdir()))
        mounted = target.is_mount()
    except OSError as error:
        raise DataError(f"can't write {target}: {error.strerror}") from None
    if taken:
        raise DataError(f"{target} exists already; choose another --out, or remove it, to write this {what}")
    if mounted:
        raise DataError(f"{target} is a mount point; name a new directory inside it to write this {what}")


def _publish(scratch: Path, target: Path, what: str) -> None:
    """Make the finished directory appear under its name, on disk for good."""
    try:
        for path in scratch.rglob("*"):
            if path.is_file():
                _sync(path)
        scratch.chmod(0o755)
        scratch.rename(target)  # replaces an empty directory, refuses a filled one
        _sync(target.parent)
    except OSError as error:
        refuse_existing(target, what)
        raise DataError(f"can't write {target}: {error.strerror or error}") from None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
