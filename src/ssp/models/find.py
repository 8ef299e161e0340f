"""The directory of a model that a person named."""

import re
from pathlib import Path

from ssp.errors import ConfigError
from ssp.models.catalogue import KNOWN
from ssp.models.pull import Progress, pull

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def is_hub_name(name: str) -> bool:
    """Whether it could be one; a directory of that name comes first."""
    return _HUB_NAME.fullmatch(name) is not None


def find_model(name: str, progress: Progress = lambda stage, count: None) -> Path:
    """A Hugging Face directory as it is; a known model, pulled if it is not there yet; else one of the hub."""
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        return folder
    if name in KNOWN:
        return pull(name, progress)
    if folder.exists() or not is_hub_name(name):
        raise ConfigError(
            f"model.path: {name} is no Hugging Face model directory (it has no config.json), "
            f"none of {', '.join(KNOWN)}, and no name of the hub"
        )
    from ssp.models.hub import snapshot

    return snapshot(name)
