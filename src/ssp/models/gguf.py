"""Quantised models (GGUF files) as plain ones."""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from ssp.errors import DataError


def save_plain(file: Path, folder: Path) -> None:
    """Write the model of a GGUF file as a Hugging Face directory with float32 weights, and its tokenizer."""
    disable_progress_bar()
    try:
        quantised = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{file.name} can't be read: {str(error).splitlines()[0]}") from None
    config = quantised.config
    if getattr(config, "quantization_config", None) is not None:  # what it was must not be taken for what it is
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(quantised.state_dict())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
