"""Memory-mapped files, read-only: opening is instant, processes share the pages, nothing is unpickled."""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssp.errors import DataError


def open_array(path: Path) -> npt.NDArray[Any]:
    """A saved NumPy array, mapped."""
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: damaged or not readable ({error}); build the index again") from None


def open_bytes(path: Path) -> memoryview:
    """A file's bytes, mapped; an empty file gives an empty view."""
    try:
        with path.open("rb") as stream:
            if path.stat().st_size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise DataError(f"{path}: not readable ({error.strerror}); build the index again") from None
