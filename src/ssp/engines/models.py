"""Loading models: Hugging Face directories and hub names, with errors a person can act on."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.utils.logging import disable_progress_bar

from ssp.config import Config, ModelConfig
from ssp.engines.codec import HfCodec
from ssp.errors import ConfigError, DataError

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load_model(
    path: str | Path, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> tuple[PreTrainedModel, HfCodec]:
    """The model and the codec of a directory or a hub name."""
    disable_progress_bar()  # bars for files that load in a blink
    try:
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(str(path), dtype=dtype)
    except SafetensorError as error:
        raise DataError(f"the model at {path} is damaged: {str(error).splitlines()[0]}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"no model at {path}: {str(error).splitlines()[0]}") from None
    torch.nn.Module.to(model, device)
    return model, HfCodec.load(path)


def save_model(model: PreTrainedModel, codec: HfCodec, folder: Path, weights: dict[str, Tensor] | None = None) -> None:
    """A directory that `transformers` and vLLM load as it is. Other weights than the model's may be given."""
    disable_progress_bar()
    model.save_pretrained(folder, state_dict=weights)
    codec.tokenizer.save_pretrained(folder)


def device_of(config: ModelConfig) -> torch.device:
    """The device of a configuration, if this machine has it."""
    if config.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(config.device)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch asserts where it was built without CUDA
        reason = str(error).splitlines()[0]
        raise ConfigError(f"model.device={config.device} can't be used here: {reason}") from None
    return device


def dtype_of(config: ModelConfig) -> torch.dtype:
    """What is computed with: half as many bits where the hardware is made for it."""
    if config.dtype == "auto":
        half = device_of(config).type == "cuda" and torch.cuda.is_bf16_supported()
        return torch.bfloat16 if half else torch.float32
    return _DTYPES[config.dtype]


def learning_dtype(config: Config) -> torch.dtype:
    """What updates are computed with: their own numbers, or the model's."""
    own = config.learner.dtype
    return dtype_of(config.model) if own is None else _DTYPES[own]


def sampling_dtype(config: Config) -> torch.dtype | None:
    """What the engine multiplies with, if other than the model's numbers."""
    own = config.engine.dtype
    return None if own is None or _DTYPES[own] is dtype_of(config.model) else _DTYPES[own]
