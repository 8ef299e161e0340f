"""Drawing seeds: which answers are proposed for in which step. Depends on seed, step and curriculum only."""

import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ssp.config import Config
from ssp.errors import ConfigError
from ssp.game.curriculum import shares_now
from ssp.rng import python_random
from ssp.text import normalise_answer
from ssp.types import Seed

SEEDS = "seeds.jsonl"


def seeds_file(run: Path) -> Path:
    """A run's answers to propose for: its own, or its world's."""
    return run / SEEDS if (run / SEEDS).exists() else run / "world" / SEEDS


def is_reserved(seed: Seed, config: Config) -> bool:
    """Whether this answer is kept out of training. A generated world has held-out questions already."""
    if config.corpus == "world":
        return False
    digest = hashlib.sha256(normalise_answer(seed.answer).encode()).digest()
    return int.from_bytes(digest[:8]) < config.eval.reserve * 2**64


def possible_shares(seeds: Sequence[Seed], shares: Sequence[float] | None) -> list[float] | None:
    """The shares of hops without those that no seed can lead to, as long as there are others."""
    if shares is None:
        return None
    there = {one.hops for one in seeds}
    possible = [share if hops in there else 0.0 for hops, share in enumerate(shares, 1)]
    return possible if sum(possible) > 0.0 else None


class SeedBag:
    """Seeds by the hops that they ask for. `shares` says how often 1, 2, … hops are drawn; without it, as they come.

    `bar` is that of the curriculum (`ssp.game.curriculum`).
    """

    def __init__(self, seeds: Sequence[Seed], shares: Sequence[float] | None, seed: int, bar: float = 0.0) -> None:
        if not seeds:
            raise ConfigError("there are no seeds to propose for")
        self._seed = seed
        self._bar = bar
        self._by_hops: defaultdict[int, list[Seed]] = defaultdict(list)
        for one in seeds:
            self._by_hops[one.hops].append(one)
        counts = {hops: float(len(some)) for hops, some in sorted(self._by_hops.items())}
        self._shares = counts if shares is None else {n: s for n, s in enumerate(shares, 1) if s > 0.0}
        for hops in self._shares:
            if hops not in self._by_hops:
                raise ConfigError(f"game.hops asks for {hops} hops, but no seed does; there are {sorted(counts)}")

    def of_step(self, step: int, means: Mapping[str, float] | None = None) -> Callable[[int, int], list[Seed]]:
        """Draws for a step: so many seeds in this round, none that an earlier round of the step has drawn.

        `means` are the running means of the run, among them those that the curriculum goes by.
        """
        shares = shares_now(self._shares, means or {}, self._bar)
        taken: set[str] = set()

        def draw(count: int, number: int) -> list[Seed]:
            drawn = self._draw(count, shares, python_random(self._seed, "seeds", step, number), taken)
            taken.update(one.id for one in drawn)
            return drawn

        return draw

    def _draw(self, count: int, shares: Mapping[int, float], rng: random.Random, taken: set[str]) -> list[Seed]:
        """As many as there are that are not taken yet, in the shares that are wanted."""
        wanted = rng.choices(list(shares), list(shares.values()), k=max(count, 0))
        drawn: list[Seed] = []
        for hops in shares:
            free = [one for one in self._by_hops[hops] if one.id not in taken]
            drawn += rng.sample(free, min(wanted.count(hops), len(free)))
        rng.shuffle(drawn)
        return drawn
