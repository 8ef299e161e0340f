"""Invented names: a pure function from (kind, number) to a name, unique without remembering any of them.

Every name is a number written in syllables. A multiplicative shuffle keeps neighbours from looking alike; on
purpose, some *twins* do look alike (one vowel apart), and people share first and last names, so that
searching and copying a name takes care. No name is a whole-word part of another.

>>> names = Names({"person": 8, "town": 10}, seed=0)
>>> names.name("town", 0), names.name("town", 1)  # twins
('Susamere', 'Susomere')
"""

import math
from collections.abc import Mapping
from functools import cache

from ssp.rng import derive

_CONSONANTS = ("b", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_HEADS = tuple(c + v for c in _CONSONANTS for v in "aeiou")
_TAILS = tuple(c + v for c in _CONSONANTS for v in "aei")
_TWIN_VOWEL = {"a": "o", "e": "u", "i": "y"}
_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "last": ("n", "r", "l", "s"),
    "first": ("",),
    "town": ("mere", "ford", "ton", "dale", "wick"),
    "region": ("land", "mark", "via"),
    "river": ("beck", "burn", "brook"),
    "company": (" Works", " Mills", " Trading", " Foundry"),
    "school": (" College", " Academy"),
    "title": ("th",),
}
_ADJECTIVES = (
    "Silent", "Golden", "Broken", "Hidden", "Distant", "Crimson", "Gentle", "Hollow", "Bitter", "Frozen",
    "Restless", "Patient", "Wooden", "Narrow", "Ancient", "Burning", "Clever", "Drowned", "Empty", "Faithful",
    "Grateful", "Humble", "Iron", "Jealous", "Lonely", "Marble", "Nameless", "Painted", "Quiet", "Ruined",
    "Scarlet", "Tender", "Unwritten", "Velvet", "Wandering", "Young", "Amber", "Borrowed", "Copper", "Dusty",
)  # fmt: skip
_NOUNS = (
    "Harbour", "Orchard", "Lantern", "Mirror", "Garden", "Bridge", "Winter", "Letter", "Tower", "Meadow",
    "Voyage", "Crown", "Feather", "Island", "Kitchen", "Ladder", "Market", "Needle", "Ocean", "Palace",
    "Quarry", "Ribbon", "Shadow", "Temple", "Umbrella", "Valley", "Window", "Anchor", "Basket", "Candle",
    "Desert", "Engine", "Forest", "Glacier", "Hammer", "Journey", "Kingdom", "Library", "Mountain", "Notebook",
)  # fmt: skip


_MIN_PLACES = 211


class Names:
    """The names of a world with the given number of entities of each kind. `twins` is the share in twin pairs."""

    def __init__(self, counts: Mapping[str, int], seed: int, twins: float = 0.2) -> None:
        self._counts = dict(counts)
        self._salts = {kind: derive(seed, "names", kind) for kind in (*_SUFFIXES, "person", "book")}
        self._twin_pairs = {kind: int(count * twins / 2) for kind, count in counts.items()}
        people = max(1, counts.get("person", 0))
        self._last_names = max(1, math.ceil(people / 2))
        self._first_names = min(len(_HEADS) * len(_TAILS), max(12, math.ceil(math.sqrt(people) * 3)))

    def name(self, kind: str, number: int) -> str:
        """The name of the entity of this kind with this number (0 ≤ number < count)."""
        if kind == "person":
            return self._person(number)
        if kind == "book":
            return self._book(number)
        stem, twin = self._stem(kind, number)
        return self._word(stem, kind, self._counts[kind], twin)

    def _stem(self, kind: str, number: int) -> tuple[int, bool]:
        """Twins share a stem: the first 2T numbers are T pairs, the rest stand alone."""
        pairs = self._twin_pairs[kind]
        return (number // 2, number % 2 == 1) if number < 2 * pairs else (number - pairs, False)

    def _person(self, number: int) -> str:
        cell = _shuffle(number, self._first_names * self._last_names, self._salts["person"])
        first, last = divmod(cell, self._last_names)
        first_name = self._word(first, "first", self._first_names)
        return f"{first_name} {self._word(last, 'last', self._last_names)}"

    def _book(self, number: int) -> str:
        pairs = len(_ADJECTIVES) * len(_NOUNS)
        volume, cell = divmod(number, pairs)
        adjective, noun = divmod(_shuffle(cell, pairs, self._salts["book"]), len(_NOUNS))
        title = f"{_ADJECTIVES[adjective]} {_NOUNS[noun]}"
        if self._counts["book"] <= pairs:
            return title
        places = max(self._counts["book"] // pairs + 1, _MIN_PLACES)
        volume = (volume + cell * 7) % places  # spread over many places; the volumes of one title still differ
        return f"{title} of {self._word(volume, 'title', places)}"

    def _word(self, number: int, kind: str, count: int, twin: bool = False) -> str:
        """The number in syllables: head syllables, a tail syllable whose vowel tells twins apart, a suffix."""
        suffixes = _SUFFIXES[kind]
        heads, size = _scale(len(suffixes), count)
        number = _shuffle(number, size, self._salts[kind])
        number, suffix = divmod(number, len(suffixes))
        number, tail = divmod(number, len(_TAILS))
        word = ""
        for _ in range(heads):
            number, head = divmod(number, len(_HEADS))
            word += _HEADS[head]
        last = _TAILS[tail]
        word += last[:-1] + _TWIN_VOWEL[last[-1]] if twin else last
        return word.capitalize() + suffixes[suffix]


@cache
def _scale(suffixes: int, count: int) -> tuple[int, int]:
    """How many head syllables it takes to tell `count` words apart, and how many words that makes."""
    heads, size = 1, len(_TAILS) * suffixes * len(_HEADS)
    while size < count:
        heads, size = heads + 1, size * len(_HEADS)
    return heads, size


def _shuffle(number: int, size: int, salt: int) -> int:
    """A fixed permutation of range(size): multiply by something coprime near its golden section, then shift."""
    return (number * _coprime(size) + salt) % size


@cache
def _coprime(size: int) -> int:
    factor = max(1, int(size * 0.6180339887))
    while math.gcd(factor, size) != 1:
        factor += 1
    return factor
