"""Attention over a paged key-value cache, as an attention function that `transformers` models call.

The model runs on all tokens of a step in one row, without padding. For each layer, the new keys and values are
written to their pages first; then each sequence attends to its own pages. Sequences that bring many tokens (prompts,
observations) go one by one through torch's fused attention; those that bring one token go together, through a
compiled kernel that reads the pages in place (`decode_kernel`), or by gathering pages where that kernel can't run.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import scaled_dot_product_attention

from ssp.engines.decode_kernel import PageAttention
from ssp.errors import EngineError

NAME = "ssp_paged"
_UNSUPPORTED = ("sliding_window", "softcap", "s_aux")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens `start` to `end` of the row belong to one sequence and are the last of its `length`."""

    start: int
    end: int
    length: int
    pages: torch.Tensor


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the tokens of one step are written and what they attend to. The single tokens come first in the row."""

    cache: "KvCache"
    slots: torch.Tensor  # for each token, its place in the cache
    lengths: npt.NDArray[np.int64]  # for each single token, the length of its sequence with it
    tables: npt.NDArray[np.int64]  # for each single token, the pages of its sequence
    stretches: tuple[Stretch, ...]


class KvCache:
    """The pages of all layers."""

    def __init__(self, config: Any, pages: int, size: int, dtype: torch.dtype, device: torch.device) -> None:
        heads = key_value_heads(config)
        shape = (pages, size, heads, head_size(config))
        layers = config.num_hidden_layers
        self.keys = [torch.empty(shape, dtype=dtype, device=device) for _ in range(layers)]
        self.values = [torch.empty(shape, dtype=dtype, device=device) for _ in range(layers)]
        plain = device.type == "cpu" and dtype is torch.float32
        self.kernel = PageAttention(torch.get_num_threads()) if plain else None

    @staticmethod
    def bytes_per_token(config: Any, dtype: torch.dtype) -> int:
        return 2 * int(config.num_hidden_layers) * key_value_heads(config) * head_size(config) * dtype.itemsize

    def write(self, layer: int, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        self.keys[layer].flatten(0, 1).index_copy_(0, slots, keys)
        self.values[layer].flatten(0, 1).index_copy_(0, slots, values)


def key_value_heads(config: Any) -> int:
    return int(getattr(config, "num_key_value_heads", None) or config.num_attention_heads)


def head_size(config: Any) -> int:
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def paged_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    plan: Plan | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """What a model's attention layer calls: [1, heads, tokens, size] come in, [1, tokens, heads, size] go out."""
    unsupported = [name for name in _UNSUPPORTED if options.get(name) is not None]
    if plan is None or unsupported:
        raise EngineError(
            f"the local engine can't run this kind of model ({', '.join(unsupported) or 'its layers drop arguments'}); "
            "use another model"
        )
    scale = scaling if scaling is not None else query.shape[-1] ** -0.5
    layer = module.layer_idx
    plan.cache.write(layer, plan.slots, key[0].transpose(0, 1), value[0].transpose(0, 1))
    rows = query[0].transpose(0, 1)  # [tokens, heads, size]
    out = torch.empty(rows.shape, dtype=query.dtype, device=query.device)
    singles = len(plan.lengths)
    if singles:
        attend = _attend_gathered if plan.cache.kernel is None else _attend_compiled
        attend(rows[:singles], plan, layer, scale, out[:singles])
    for stretch in plan.stretches:
        _attend_stretch(rows[stretch.start : stretch.end], plan, stretch, layer, scale, out)
    return out[None], None


def _attend_compiled(rows: torch.Tensor, plan: Plan, layer: int, scale: float, out: torch.Tensor) -> None:
    assert plan.cache.kernel is not None
    plan.cache.kernel(
        rows.contiguous().numpy(),
        plan.cache.keys[layer].numpy(),
        plan.cache.values[layer].numpy(),
        plan.tables,
        plan.lengths,
        scale,
        out.numpy(),
    )


def _attend_gathered(rows: torch.Tensor, plan: Plan, layer: int, scale: float, out: torch.Tensor) -> None:
    """All single tokens at once, over copies of their pages padded to the longest."""
    tables = torch.from_numpy(plan.tables).to(rows.device)
    keys, values = plan.cache.keys[layer], plan.cache.values[layer]
    count, heads, size = rows.shape
    shape = (count, tables.shape[1] * keys.shape[1], keys.shape[2], size)
    near_keys = keys[tables].view(shape).transpose(1, 2)
    near_values = values[tables].view(shape).transpose(1, 2)
    lengths = torch.from_numpy(plan.lengths).to(rows.device)
    mask = torch.arange(shape[1], device=rows.device)[None] < lengths[:, None]
    grouped = rows.reshape(count, keys.shape[2], heads // keys.shape[2], size)
    near = scaled_dot_product_attention(grouped, near_keys, near_values, attn_mask=mask[:, None, None], scale=scale)
    out.copy_(near.reshape(count, heads, size))


def _attend_stretch(
    rows: torch.Tensor, plan: Plan, stretch: Stretch, layer: int, scale: float, out: torch.Tensor
) -> None:
    """One sequence with several new tokens: each sees everything before it."""
    count, heads, size = rows.shape
    keys = plan.cache.keys[layer][stretch.pages].flatten(0, 1)[: stretch.length]
    values = plan.cache.values[layer][stretch.pages].flatten(0, 1)[: stretch.length]
    groups = heads // keys.shape[1]
    # [kv heads, query heads of each, tokens, size]; the keys are the same for all query heads of a group
    near = scaled_dot_product_attention(
        rows.transpose(0, 1).reshape(keys.shape[1], groups, count, size),
        keys.permute(1, 0, 2)[:, None].expand(-1, groups, -1, -1),
        values.permute(1, 0, 2)[:, None].expand(-1, groups, -1, -1),
        attn_mask=None if count == stretch.length else _later_rows(count, stretch.length, rows.device),
        is_causal=count == stretch.length,
        scale=scale,
    )
    out[stretch.start : stretch.end] = near.reshape(heads, count, size).transpose(0, 1)


def _later_rows(count: int, length: int, device: torch.device) -> torch.Tensor:
    """The last rows of a causal mask."""
    return torch.ones(count, length, dtype=torch.bool, device=device).tril(length - count)
