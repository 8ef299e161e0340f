"""What a proposer starts from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from ssp.types.check import require


@dataclass(frozen=True, slots=True)
class Seed:
    """An answer to write a question for, other spellings of it, and how many hops the question should take.

    >>> seed = Seed(id="s1", answer="1843", aliases=("the year 1843",), hops=2)
    >>> seed.accepted
    ('1843', 'the year 1843')
    """

    id: str
    answer: str
    aliases: tuple[str, ...] = ()
    hops: int = 1
    meta: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.id != "", "a Seed needs an id")
        require(self.answer.strip() != "", f"seed {self.id} has an empty answer")
        require(all(alias.strip() for alias in self.aliases), f"seed {self.id} has an empty alias")
        json.dumps(dict(self.meta), allow_nan=False)  # raises ValueError for what JSON can't hold
        require(self.hops >= 1, f"seed {self.id} wants {self.hops} hops; at least 1")

    @property
    def accepted(self) -> tuple[str, ...]:
        """The answer and its aliases: any of them is right."""
        return (self.answer, *self.aliases)
