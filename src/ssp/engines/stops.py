"""Stop strings in a stream of tokens, wherever the token borders fall."""

from collections.abc import Sequence
from functools import lru_cache

from ssp.protocols import Codec

_UNSURE = "\ufffd"  # what an incomplete character decodes to


class StopFinder:
    """Says after each token whether a stop string is complete.

    Decoding all tokens after each one would be slow, and looking at tokens one by one would miss strings that lie
    across them. A stop string can only be completed by a token that has its last character: only then is decoded.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._piece = lru_cache(maxsize=None)(lambda token: codec.decode([token]))
        self._completes = lru_cache(maxsize=None)(self._may_complete)

    def found(self, token_ids: Sequence[int], stops: tuple[str, ...]) -> bool:
        """Is a stop string complete, now that the last of these tokens has come?"""
        if not stops or not self._completes(token_ids[-1], stops):
            return False
        text = self._codec.decode(token_ids)
        return any(stop in text for stop in stops)

    def _may_complete(self, token: int, stops: tuple[str, ...]) -> bool:
        piece = self._piece(token)
        return _UNSURE in piece or any(stop[-1] in piece for stop in stops)
