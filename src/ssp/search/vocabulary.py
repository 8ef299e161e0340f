"""A term → number table that is read from disk in place, so that opening it costs nothing at any size."""

import bisect
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ssp.search.arrays import open_array, open_bytes

_TERMS, _OFFSETS, _NUMBERS = "terms.bin", "terms.offsets.npy", "terms.numbers.npy"
_ABSENT, _UNASKED = -1, -2


def write_vocabulary(directory: Path, terms: Sequence[str]) -> None:
    """Write the terms in sorted order, with the number (its position in `terms`) of each."""
    encoded = [term.encode() for term in terms]
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    ends = np.cumsum([0, *(len(encoded[number]) for number in order)], dtype=np.int64)
    with (directory / _TERMS).open("wb") as stream:
        stream.writelines(encoded[number] for number in order)
    np.save(directory / _OFFSETS, ends)
    np.save(directory / _NUMBERS, np.array(order, dtype=np.int32))


class Vocabulary:
    """The terms of an index. Looks up by binary search in the file and remembers what it was asked for."""

    _REMEMBERED = 200_000

    def __init__(self, directory: Path) -> None:
        self._terms = open_bytes(directory / _TERMS)
        self._offsets = open_array(directory / _OFFSETS)
        self._numbers = open_array(directory / _NUMBERS)
        self._known: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The numbers of those terms that the index has, in the order of the query; a repeated term counts twice."""
        return [number for term in terms if (number := self._number(term)) is not None]

    def _number(self, term: str) -> int | None:
        number = self._known.get(term, _UNASKED)
        if number == _UNASKED:
            if len(self._known) >= self._REMEMBERED:
                self._known.clear()
            number = self._known[term] = self._find(term.encode())
        return None if number == _ABSENT else number

    def _find(self, term: bytes) -> int:
        place = bisect.bisect_left(range(len(self)), term, key=self._term)
        return int(self._numbers[place]) if place < len(self) and self._term(place) == term else _ABSENT

    def _term(self, place: int) -> bytes:
        return bytes(self._terms[self._offsets[place] : self._offsets[place + 1]])
