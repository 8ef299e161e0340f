"""Stop strings are found at the token that completes them, wherever the borders between tokens fall."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ssp.engines.stops import StopFinder
from ssp.protocols import Codec
from tests.models import codec

STOPS = ("</search>", "</answer>", "了。")


class PieceCodec:
    """Tokens are arbitrary pieces of bytes."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces
        self.end_ids: frozenset[int] = frozenset()

    def encode(self, text: str) -> tuple[int, ...]:
        raise NotImplementedError

    encode_untrusted = encode

    def chat(self, message: str) -> str:
        raise NotImplementedError

    def decode(self, token_ids: Sequence[int]) -> str:
        return b"".join(self.pieces[token] for token in token_ids).decode(errors="replace")


parts = st.lists(st.sampled_from([*STOPS, "</", "search>", "<search>", "a", " ", ">", "了", "。", "é"]), max_size=8)


@given(parts, st.lists(st.integers(1, 60), max_size=20))
def test_any_split(texts: list[str], cuts: list[int]) -> None:
    whole = "".join(texts).encode()
    borders = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[a:b] for a, b in pairwise(borders)]
    check(PieceCodec(pieces), list(range(len(pieces))))


@given(st.lists(st.integers(0, len(codec()) - 1), max_size=30))
def test_any_tokens_of_a_real_tokenizer(tokens: list[int]) -> None:
    check(codec(), tokens)


@given(parts)
def test_the_tokenizers_own_split(texts: list[str]) -> None:
    check(codec(), list(codec().encode("".join(texts))))


def check(some_codec: Codec, tokens: list[int]) -> None:
    finder = StopFinder(some_codec)
    for end in range(1, len(tokens) + 1):
        text = some_codec.decode(tokens[:end])
        complete = any(stop in text for stop in STOPS)
        assert finder.found(tokens[:end], STOPS) == complete
        if complete:
            break
