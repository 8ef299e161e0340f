"""Small models and a tokenizer for tests, made on the spot."""

from collections.abc import Callable
from functools import cache

import torch
from transformers import (
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from ssp.engines.codec import HfCodec
from ssp.warmup.tokenizer import train_tokenizer

TEXTS = [
    "Where was the mayor of Oakmere born? In Dunford, in the year 1843.",
    "The mother of Mira Dolven is Tova Navan. Mira Dolven works for Hala Trading.",
    "Zoë crossed the river: 12 kilometres, “long” — and 大学 too.",
]


@cache
def codec() -> HfCodec:
    return HfCodec(train_tokenizer(TEXTS * 20, 512))


def _llama(vocabulary: int) -> PreTrainedModel:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary, hidden_size=48, intermediate_size=64, num_hidden_layers=3, num_attention_heads=6,
            num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.3, eos_token_id=1, pad_token_id=0,
        )
    )  # fmt: skip


def _wide_llama(vocabulary: int) -> PreTrainedModel:
    """With heads of a size that vLLM has kernels for."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=32, max_position_embeddings=512, initializer_range=0.2, eos_token_id=1,
            pad_token_id=0, tie_word_embeddings=True,
        )
    )  # fmt: skip


def _qwen2(vocabulary: int) -> PreTrainedModel:
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=vocabulary, hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=4, max_position_embeddings=512, initializer_range=0.3, tie_word_embeddings=True,
            eos_token_id=1, pad_token_id=0,
        )
    )  # fmt: skip


def _gpt_neox(vocabulary: int) -> PreTrainedModel:
    return GPTNeoXForCausalLM(
        GPTNeoXConfig(
            vocab_size=vocabulary, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=512, initializer_range=0.2, eos_token_id=1, pad_token_id=0,
        )
    )  # fmt: skip


SHAPES: dict[str, Callable[[int], PreTrainedModel]] = {
    "llama": _llama,
    "wide-llama": _wide_llama,
    "qwen2": _qwen2,
    "gpt-neox": _gpt_neox,
}


def random_model(shape: str, seed: int = 0) -> PreTrainedModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = SHAPES[shape](len(codec()))
    model.eval()
    return model


def trained_model(shape: str, steps: int = 60) -> PreTrainedModel:
    """A model that has learned to say the test texts: its logits are sharp, unlike those of random weights."""
    model = random_model(shape)
    model.train()
    rows = [torch.tensor([codec().encode(text)]) for text in TEXTS]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(steps):
        ids = rows[step % len(rows)]
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    return model
