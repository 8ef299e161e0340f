"""Loading models: Hugging Face directories and hub names, with errors a person can act on."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.utils.logging import disable_progress_bar

from ssp.engines.codec import HfCodec
from ssp.errors import DataError


def load_model(path: str | Path, *, dtype: torch.dtype = torch.float32) -> tuple[PreTrainedModel, HfCodec]:
    """The model and the codec of a directory or a hub name."""
    disable_progress_bar()  # bars for files that load in a blink
    try:
        model = AutoModelForCausalLM.from_pretrained(str(path), dtype=dtype)
    except SafetensorError as error:
        raise DataError(f"the model at {path} is damaged: {str(error).splitlines()[0]}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"no model at {path}: {str(error).splitlines()[0]}") from None
    return model, HfCodec.load(path)


def save_model(model: PreTrainedModel, codec: HfCodec, folder: Path) -> None:
    """A directory that `transformers` and vLLM load as it is."""
    disable_progress_bar()
    model.save_pretrained(folder)
    codec.tokenizer.save_pretrained(folder)
