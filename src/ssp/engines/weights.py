"""Weights on their way from the learner to engines in other processes: as a model directory that vLLM reloads from."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

_SMALL = ("*.json", "*.jinja", "*.txt", "*.model")
_WEIGHTS = "model.safetensors"
_TIED = "tie_word_embeddings"


class Exchange:
    """A folder that holds the newest weights, and those before only until all have taken the new ones.

    `model` is the directory that says what kind of model it is; `start` is what an engine should begin with. That is
    the same, except with `untie`: on CPUs vLLM keeps a packed copy of the last layer, which does not change when tied
    weights are reloaded. So that layer gets weights of its own. Without a `folder` all lies in a temporary one.
    """

    def __init__(self, model: Path, folder: Path | None = None, *, untie: bool = False) -> None:
        if folder is not None:
            folder.expanduser().mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="ssp-weights-", dir=folder and folder.expanduser())).resolve()
        self.start = self._untied(model) if untie and _is_tied(model) else model
        self.newest: Path | None = None

    def write(self, weights: Mapping[str, Tensor], version: int) -> Path:
        """A whole model directory of this version."""
        place = self._folder / f"version-{version:06d}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        _copy_small_files(self.start, place)
        save_file(_as_stored(weights, _is_tied(self.start)), place / _WEIGHTS, metadata={"format": "pt"})
        self.newest = place
        return place

    def forget_older(self) -> None:
        for place in self._folder.iterdir():
            if place not in (self.newest, self.start):
                shutil.rmtree(place, ignore_errors=True)

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _untied(self, model: Path) -> Path:
        place = self._folder / "start"
        place.mkdir()
        _copy_small_files(model, place)
        config = json.loads((model / "config.json").read_bytes())
        (place / "config.json").write_text(json.dumps({**config, _TIED: False}), encoding="utf-8")
        weights = {name: value for file in model.glob("*.safetensors") for name, value in load_file(file).items()}
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
        save_file(weights, place / _WEIGHTS, metadata={"format": "pt"})
        return place


def _is_tied(model: Path) -> bool:
    return bool(json.loads((model / "config.json").read_bytes()).get(_TIED, False))


def _copy_small_files(model: Path, place: Path) -> None:
    for pattern in _SMALL:
        for file in model.glob(pattern):
            if not file.name.endswith(".index.json"):
                shutil.copy(file, place)


def _as_stored(weights: Mapping[str, Tensor], tied: bool) -> dict[str, Tensor]:
    """What stands under two names is stored once where they are tied, and twice where they are not."""
    seen: set[tuple[int, tuple[int, ...]]] = set()
    stored = {}
    for name, tensor in weights.items():
        place = (tensor.data_ptr(), tuple(tensor.shape))
        if place not in seen:
            stored[name] = tensor.detach().contiguous().cpu()
        elif not tied:
            stored[name] = tensor.detach().clone().cpu()
        seen.add(place)
    return stored
