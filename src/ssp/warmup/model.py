"""The tiny model: Llama-shaped, a few million parameters, and able to look things up from the first step on."""

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from ssp.warmup.circuits import GROUPS, HEADS, lay_circuits

_ROPE_BASE = 100_000.0


@dataclass(frozen=True, slots=True)
class TinyShape:
    """The dials of the tiny model. Its heads are those that the circuits need."""

    width: int = 224
    layers: int = 3
    head_size: int = 64
    hidden: int = 384
    positions: int = 2048


def tiny_model(end: int, pad: int, rare: Tensor, shape: TinyShape, seed: int) -> LlamaForCausalLM:
    """A fresh model for a vocabulary of which `rare` says which tokens are (see `circuits.rareness`)."""
    config = LlamaConfig(
        vocab_size=len(rare),
        hidden_size=shape.width,
        intermediate_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=HEADS,
        num_key_value_heads=GROUPS,
        head_dim=shape.head_size,
        max_position_embeddings=shape.positions,
        rope_parameters={"rope_type": "default", "rope_theta": _ROPE_BASE},
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=pad,
        initializer_range=0.02,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
        lay_circuits(model, rare, _ROPE_BASE)
    return model
