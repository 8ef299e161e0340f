"""Optional dependencies: imported where they are used, and asked for by name where they are missing."""

import importlib
from types import ModuleType

from ssp.errors import MissingExtra


def import_extra(module: str, *, extra: str, feature: str) -> ModuleType:
    """Import a module of an optional extra, or say in one line which extra to install.

    >>> import_extra("no_such_module", extra="dense", feature="dense search")
    Traceback (most recent call last):
    ssp.errors.MissingExtra: dense search needs an optional dependency: pip install 'ssp[dense]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtra(extra, feature) from None
