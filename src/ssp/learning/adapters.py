"""LoRA adapters in a model: laid into it, merged for whoever samples, switched off to see the model as it began."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig as PeftConfig
from peft import get_peft_model_state_dict, inject_adapter_in_model, set_peft_model_state_dict
from peft.tuners.lora import LoraLayer
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from ssp.config import LoraConfig
from ssp.errors import LearnerError

_NAME = "default"
_WEIGHTS = "adapter_model.safetensors"
_PREFIX = "base_model.model."  # that of a model wrapped by peft


def add_adapters(model: PreTrainedModel, config: LoraConfig, *, above: int, seed: int) -> None:
    """Adapters for the linear layers from layer `above` on. They change nothing yet; only they learn from now on."""
    targets = list(config.targets) or _linear_names(model)
    wanted = PeftConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        target_modules=targets,
        layers_to_transform=list(range(above, model.config.get_text_config().num_hidden_layers)) if above else None,
        layers_pattern="layers" if above else None,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            inject_adapter_in_model(wanted, model, _NAME)
        except ValueError as error:
            raise LearnerError(f"lora.targets: {str(error).splitlines()[0]}") from None
    for name, weights in model.named_parameters():
        weights.requires_grad_("lora_" in name)
        if weights.requires_grad:
            weights.data = weights.data.float()


def has_adapters(model: PreTrainedModel) -> bool:
    return any(True for _ in _layers(model))


def merged(model: PreTrainedModel) -> dict[str, Tensor]:
    """The weights of a plain model that computes the same, by their plain names. The model itself stays as it is."""
    layers = dict(_layers(model))
    weights = {}
    for name, tensor in model.state_dict().items():
        owner, _, part = name.rpartition(".base_layer.")
        if owner:
            weights[f"{owner}.{part}"] = _with_adapter(tensor, layers[owner]) if part == "weight" else tensor
        elif ".lora_" not in name:
            weights[name] = tensor
    return weights


@torch.no_grad()
def _with_adapter(weight: Tensor, layer: Any) -> Tensor:
    change: Tensor = layer.get_delta_weight(_NAME)
    return (weight.float() + change.float()).to(weight.dtype)


@contextmanager
def switched_off(model: PreTrainedModel) -> Iterator[None]:
    """The model as it was before it had adapters."""
    for _, layer in _layers(model):
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for _, layer in _layers(model):
            layer.enable_adapters(True)


def save_adapters(model: PreTrainedModel, folder: Path) -> None:
    """In the form that `peft` and vLLM read."""
    folder.mkdir()
    state = get_peft_model_state_dict(model, adapter_name=_NAME)
    save_file({f"{_PREFIX}{name}": value.contiguous() for name, value in state.items()}, folder / _WEIGHTS)
    _, first = next(_layers(model))
    settings = PeftConfig(
        r=first.r[_NAME],
        lora_alpha=first.lora_alpha[_NAME],
        target_modules=sorted(name for name, _ in _layers(model)),
        inference_mode=True,
    )
    settings.save_pretrained(str(folder))


def load_adapters(model: PreTrainedModel, folder: Path) -> None:
    """What `save_adapters` wrote, into a model with adapters of the same shape."""
    try:
        state = load_file(folder / _WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise LearnerError(f"{folder} can't be read: {str(error).splitlines()[0]}") from None
    plain = {name.removeprefix(_PREFIX): value for name, value in state.items()}
    strange = set(plain) ^ set(get_peft_model_state_dict(model, adapter_name=_NAME))
    if strange:
        raise LearnerError(f"{folder} is of another model, or of other adapters: they differ in {min(strange)}")
    set_peft_model_state_dict(model, plain, adapter_name=_NAME)


@torch.no_grad()
def reset_adapters(model: PreTrainedModel) -> None:
    """Let the adapters change nothing again."""
    for name, weights in model.named_parameters():
        if ".lora_B." in name:
            weights.zero_()


def _layers(model: PreTrainedModel) -> Iterator[tuple[str, LoraLayer]]:
    return ((name, layer) for name, layer in model.named_modules() if isinstance(layer, LoraLayer))


def _linear_names(model: PreTrainedModel) -> list[str]:
    """The last parts of the names of all linear layers but the one that makes words."""
    last = model.get_output_embeddings()
    linear = [name for name, layer in model.named_modules() if isinstance(layer, nn.Linear) and layer is not last]
    return sorted({name.rpartition(".")[2] for name in linear})
