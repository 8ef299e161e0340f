"""The tiny model: Llama-shaped, a few million parameters, and able to look things up from the first step on.

Looking something up in a text and copying it takes two attention heads in a row: one that notes at each token which
token came before, and one that looks for places where the present token came before, and copies what stands there.
From random weights, small models spend most of their training on finding this circuit. A warm-up of minutes can't, so
it is laid into the weights at the start, twice: by the token before, and by that and the few words before it (to
find the sentences about the same thing). The rest is small random numbers; training does with it what it likes.

Axes of the residual stream at the start: one constant, then the token itself, the token before, the words before,
and what the output layer reads.
"""

import math
from dataclasses import dataclass

import torch
from transformers import LlamaConfig, LlamaForCausalLM


@dataclass(frozen=True, slots=True)
class TinyShape:
    """The dials of the tiny model."""

    width: int = 192
    layers: int = 4
    heads: int = 4
    key_value_heads: int = 2
    head_size: int = 64
    hidden: int = 384
    positions: int = 2048


_ROPE_BASE = 100_000.0
_SHARPNESS = 10.0  # score by which the place looked for stands out
_CONSTANT = 2.0
_FAST, _MEDIUM = slice(0, 3), slice(3, 8)  # rotary axes, by how fast they turn


def tiny_model(vocabulary: int, end: int, pad: int, shape: TinyShape, seed: int) -> LlamaForCausalLM:
    """A fresh model with the copying circuit in its first two layers."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_value_heads,
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
        _lay_circuit(model, shape)
    return model


@torch.no_grad()
def _lay_circuit(model: LlamaForCausalLM, shape: TinyShape) -> None:
    size = shape.head_size
    note = size // 2  # numbers in which a token is noted
    itself = slice(1, shape.width - 3 * note)
    before = slice(itself.stop, itself.stop + note)
    recent = slice(before.stop, before.stop + note)
    output = slice(recent.stop, shape.width)

    tokens = torch.randn(model.config.vocab_size, itself.stop - itself.start)
    noted = torch.linalg.qr(torch.randn(tokens.shape[1], note))[0].T  # [note, itself]: keeps angles roughly
    table = model.model.embed_tokens.weight
    table.zero_()
    table[:, 0] = _CONSTANT
    table[:, itself] = tokens
    model.lm_head.weight[:, output] = 0.3 * tokens @ noted.T

    first, second = model.model.layers[0].self_attn, model.model.layers[1].self_attn
    one = slice(0, size)
    two = slice(size, 2 * size)
    other = slice(size * shape.heads // shape.key_value_heads, size * (shape.heads // shape.key_value_heads + 1))
    # Layer 0, first group: constant queries and keys that, turned by position, agree one token back (a sharp peak, from
    # fast axes), or around the last few tokens (a blunt one, from slower axes). Both note the tokens found.
    places = torch.zeros(size)
    places[_FAST] = math.sqrt(_SHARPNESS * math.sqrt(size) / 2.0) / _CONSTANT
    places[_MEDIUM] = math.sqrt(1.5 * math.sqrt(size)) / _CONSTANT
    blunt = places.clone()
    blunt[_FAST] = 0.0
    _set(first.k_proj, one, slice(0, 1), places[:, None])
    _set(first.q_proj, one, slice(0, 1), _turned(places, -1.0)[:, None])
    _set(first.q_proj, two, slice(0, 1), _turned(blunt, -3.5)[:, None])
    _set(first.v_proj, one, itself, torch.cat([noted, torch.zeros_like(noted)]))
    _set(first.o_proj, before, slice(0, note), torch.eye(note), clear=one)
    _set(first.o_proj, recent, slice(size, size + note), 2.0 * torch.eye(note), clear=two)
    # Layer 1, one head of each group: look for places after the same token, or after the same words; copy from there.
    # On axes that hardly turn, so that distance does not matter.
    slow = [*range(size // 2 - note // 2, size // 2), *range(size - note // 2, size)]
    sought = torch.zeros(size, note)
    sought[slow] = torch.eye(note)
    gain = math.sqrt(_SHARPNESS * math.sqrt(size) / note)
    _set(second.k_proj, one, before, gain * sought)
    _set(second.q_proj, one, itself, gain * sought @ noted)
    turned = [torch.linalg.qr(torch.randn(note, note))[0] for _ in range(2)]  # both notes on the same few axes
    _set(second.k_proj, two, recent, 1.8 * sought @ turned[0])
    _set(second.q_proj, other, recent, 1.8 * sought @ turned[0])
    second.k_proj.weight[two, before] = gain * sought @ turned[1]
    second.q_proj.weight[other, itself] = gain * sought @ turned[1] @ noted
    copied = torch.cat([noted, torch.zeros_like(noted)])
    _set(second.v_proj, one, itself, copied)
    _set(second.v_proj, two, itself, copied)
    _set(second.o_proj, output, slice(0, note), 2.0 * torch.eye(note), clear=one)
    _set(second.o_proj, output, slice(other.start, other.start + note), torch.eye(note), clear=other)


def _set(layer: torch.nn.Linear, rows: slice, columns: slice, block: torch.Tensor, clear: slice | None = None) -> None:
    """Put a block into a weight matrix; what else stands in its rows (or in the columns `clear`) becomes zero."""
    if clear is None:
        layer.weight[rows] = 0.0
    else:
        layer.weight[:, clear] = 0.0
    layer.weight[rows, columns] = block


def _turned(vector: torch.Tensor, positions: float) -> torch.Tensor:
    """A vector turned as rotary embeddings turn it over so many positions."""
    half = len(vector) // 2
    angles = positions * _ROPE_BASE ** (-torch.arange(half) / half)
    a, b = vector[:half], vector[half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()])
