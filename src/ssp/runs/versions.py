"""What a run was made with, for those who want to make it again."""

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("ssp", "torch", "transformers", "tokenizers", "numpy", "numba", "bm25s", "safetensors", "pydantic")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on.

    >>> sorted(versions())[:3]
    ['bm25s', 'machine', 'numba']
    """
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
