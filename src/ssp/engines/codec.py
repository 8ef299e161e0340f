"""Tokenizers of the Hugging Face family as a codec.

Untrusted text goes through a twin of the tokenizer that knows no special tokens, after the tags and the spellings of
all added tokens were taken apart; what still came out as one (a normaliser can assemble things) is dropped.
"""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from ssp.agents.protocol import neutralise
from ssp.errors import DataError


class HfCodec:
    """A codec over the tokenizer of a Hugging Face model directory."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if not tokenizer.is_fast:
            raise DataError(f"{tokenizer.name_or_path}: needs a tokenizer.json (a fast tokenizer)")
        self.tokenizer = tokenizer
        self._trusted: Tokenizer = tokenizer.backend_tokenizer
        self._untrusted = Tokenizer.from_str(self._trusted.to_str())
        self._untrusted.encode_special_tokens = True
        added = self._trusted.get_added_tokens_decoder()
        self._added_ids = frozenset(added)
        # longest first, so that a token inside another one can't leave remains that make up a third
        self._added_texts = tuple(sorted((token.content for token in added.values()), key=len, reverse=True))

    @classmethod
    def load(cls, path: str | Path) -> "HfCodec":
        try:
            return cls(AutoTokenizer.from_pretrained(str(path)))
        except (OSError, ValueError) as error:
            raise DataError(f"no tokenizer at {path}: {str(error).splitlines()[0]}") from None

    @property
    def end_ids(self) -> frozenset[int]:
        """The end token, if there is one."""
        end = self.tokenizer.eos_token_id
        return frozenset() if end is None else frozenset({int(end)})

    def __len__(self) -> int:
        return len(self.tokenizer)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._trusted.encode(text, add_special_tokens=False).ids)

    def encode_untrusted(self, text: str) -> tuple[int, ...]:
        harmless = neutralise(text, self._added_texts)
        ids = self._untrusted.encode(harmless, add_special_tokens=False).ids
        return tuple(token for token in ids if token not in self._added_ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        return str(self._trusted.decode(list(token_ids), skip_special_tokens=False))

    def chat(self, message: str) -> str:
        if self.tokenizer.chat_template is None:
            return f"{self.tokenizer.bos_token or ''}{message}\n"
        messages = [{"role": "user", "content": message}]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        assert isinstance(text, str)
        return text
