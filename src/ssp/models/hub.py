"""Models from the Hugging Face hub, where it can be reached."""

from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

from ssp.errors import DataError

_FILES = ["*.safetensors", "*.json", "*.txt", "*.model", "*.jinja"]


def snapshot(name: str, folder: Path | None = None) -> Path:
    """The model's files, in a folder of ours or in the hub's own cache."""
    try:
        return Path(snapshot_download(name, local_dir=folder, allow_patterns=_FILES))
    except (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, OSError, ValueError) as error:
        raise DataError(
            f"{name} can't be had from the hub ({_first_line(error)}); "
            "put the model on this machine and set model.path to its directory"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
