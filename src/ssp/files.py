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
    target = target.absolute()
    refuse_existing(target, what)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise DataError(f"can't write {target}: {error.strerror}") from None
    try:
        yield scratch
        for path in scratch.rglob("*"):
            if path.is_file():
                _sync(path)
        scratch.chmod(0o755)
        _rename_new(scratch, target, what)
        _sync(target.parent)
    except OSError as error:
        raise DataError(f"can't write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def refuse_existing(target: Path, what: str) -> None:
    """A product is never overwritten: say so before any work is done."""
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise DataError(f"{target} exists already; choose another --out, or remove it, to write this {what}")


def _rename_new(scratch: Path, target: Path, what: str) -> None:
    try:
        scratch.rename(target)  # replaces an empty directory, refuses a filled one
    except OSError:
        refuse_existing(target, what)
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
