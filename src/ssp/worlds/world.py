"""The facts of a generated world: which entity stands in which relation to which.

Entities are numbers: first those of the training part, then the held-out *island*. The two parts share names
and language but no link leads from one to the other, and their numbers (years, counts, lengths) are even in
one and odd in the other. So an evaluation question, which starts on the island, has a chain, a start and an
answer that nothing used in training has.

Facts are integer arrays (a few bytes an entity), names are computed, and articles are written one at a time:
a world of a million articles streams.
"""

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ssp.errors import ConfigError
from ssp.rng import numpy_random
from ssp.worlds.names import Names
from ssp.worlds.schema import RICHNESS_LEVELS, Relation, Schema, schema

Ints = npt.NDArray[np.int32]
NONE = -1
MIN_ARTICLES, MAX_ARTICLES = 100, 50_000_000
_LIFEWORKS = {"published": "author", "founded": "founder"}
_VALUE_RANGES = {"year": (1700, 1990), "count": (1_000, 90_000), "kilometres": (20, 900)}


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """What a world is made from. Equal settings give equal bytes."""

    articles: int = 2000
    seed: int = 0
    richness: int = 1
    heldout: float = 0.25

    def __post_init__(self) -> None:
        if self.articles < MIN_ARTICLES:
            raise ConfigError(f"a world needs at least {MIN_ARTICLES} articles, got {self.articles}")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"a seed is a whole number from 0 to 2^63 - 1, got {self.seed}")
        if self.articles > MAX_ARTICLES:
            raise ConfigError(f"a world has at most {MAX_ARTICLES:,} articles, got {self.articles:,}")
        if self.richness not in RICHNESS_LEVELS:
            raise ConfigError(f"richness is one of {', '.join(map(str, RICHNESS_LEVELS))}, got {self.richness}")
        if not 0.1 <= self.heldout <= 0.5:
            raise ConfigError(f"the held-out share must be between 0.1 and 0.5, got {self.heldout}")


@dataclass(frozen=True, slots=True)
class Part:
    """The training part or the held-out island: a range of entities, split into ranges by kind."""

    name: str
    ranges: dict[str, range] = field(default_factory=dict)

    @property
    def entities(self) -> range:
        ranges = list(self.ranges.values())
        return range(ranges[0].start, ranges[-1].stop)


class World:
    """All facts of a world. `objects(entity, relation)` gives entity numbers, or plain numbers for values.

    >>> world = World(WorldSettings(articles=200))
    >>> town = world.train.ranges["town"][0]
    >>> [world.name(person) for person in world.objects(town, "mayor")]
    ['Game Hugir']
    """

    def __init__(self, settings: WorldSettings, facts_seed: int | None = None) -> None:
        """With a `facts_seed`, a sibling: the same names and kinds, other facts, other wordings."""
        self.settings = settings
        self.facts_seed = settings.seed if facts_seed is None else facts_seed
        self.schema: Schema = schema(settings.richness)
        heldout = int(settings.articles * settings.heldout)
        self.train = _part("train", 0, settings.articles - heldout, self.schema)
        self.island = _part("island", settings.articles - heldout, heldout, self.schema)
        ranges = [
            (members.start, kind, part) for part in (self.train, self.island) for kind, members in part.ranges.items()
        ]
        self._starts = [start for start, _, _ in ranges]
        self._owners = [(kind, part) for _, kind, part in ranges]
        self._counts = {
            kind.name: len(self.train.ranges[kind.name]) + len(self.island.ranges[kind.name])
            for kind in self.schema.kinds
        }
        self._names = Names(self._counts, settings.seed)
        self._kind_order = {
            kind: numpy_random(settings.seed, "order", kind).permutation(count).astype(np.int32)
            for kind, count in self._counts.items()
        }
        self._facts: dict[str, dict[str, Ints]] = {}
        for relation in self.schema.relations:  # in order: some facts lean on earlier ones
            self._facts[relation.name] = self._draw(relation)

    def __len__(self) -> int:
        return self.settings.articles

    def part_of(self, entity: int) -> Part:
        return self._owner(entity)[1]

    def kind(self, entity: int) -> str:
        return self._owner(entity)[0]

    def _owner(self, entity: int) -> tuple[str, Part]:
        return self._owners[bisect.bisect_right(self._starts, entity) - 1]

    def name(self, entity: int) -> str:
        kind, part = self._owner(entity)
        number = entity - part.ranges[kind].start
        if part is self.island:
            number += len(self.train.ranges[kind])
        return self._names.name(kind, int(self._kind_order[kind][number]))

    def doc_id(self, entity: int) -> str:
        return f"w{entity:07d}"

    def objects(self, entity: int, relation: str) -> tuple[int, ...]:
        """The objects of a relation, in the order in which the article names them; empty where there is none."""
        kind, part = self._owner(entity)
        if self.schema.relation(relation).subject != kind:
            return ()
        row = self._facts[relation][part.name][entity - part.ranges[kind].start]
        return tuple(value for value in row.tolist() if value != NONE)

    def object_text(self, relation: Relation, value: int) -> str:
        """An object as an article or an answer writes it."""
        return value_text(relation.object, value) if relation.is_value else self.name(value)

    def facts(self, entity: int) -> Iterator[tuple[Relation, tuple[int, ...]]]:
        """The relations that this entity has, with their objects."""
        for relation in self.schema.of_subject(self.kind(entity)):
            objects = self.objects(entity, relation.name)
            if objects:
                yield relation, objects

    def links(self, relation: Relation, part: Part) -> tuple[Ints, Ints]:
        """All (subject, object) pairs of a relation in one part, as two arrays."""
        members = part.ranges[relation.subject]
        rows = self._facts[relation.name][part.name]
        subjects = np.repeat(np.arange(members.start, members.stop, dtype=np.int32), rows.shape[1])
        objects = rows.reshape(-1)
        present = objects != NONE
        return subjects[present], objects[present]

    def _draw(self, relation: Relation) -> dict[str, Ints]:
        return {part.name: self._draw_part(relation, part) for part in (self.train, self.island)}

    def _draw_part(self, relation: Relation, part: Part) -> Ints:
        rng = numpy_random(self.facts_seed, "facts", relation.name, part.name)
        subjects = len(part.ranges[relation.subject])
        if relation.name == "birth_year":
            return _generations(rng, subjects, odd=part is self.island)[:, None]
        if relation.name in _LIFEWORKS:
            return self._lifework_years(rng, _LIFEWORKS[relation.name], part)[:, None]
        if relation.is_value:
            return _values(rng, relation.object, subjects, odd=part is self.island)[:, None]
        targets = part.ranges[relation.object]
        if relation.name in ("mother", "teacher"):
            picked = _elders(rng, subjects)
        elif relation.name == "region":
            picked = _cover(rng, subjects, len(targets))
        elif relation.name == "capital":  # the town of the same number: `_cover` put it into this region
            picked = np.arange(subjects, dtype=np.int32)
        elif relation.most > 1:
            several = _several(rng, subjects, len(targets), relation.most, targets.start)
            return self._with_source_first(several, part) if relation.name == "crosses" else several
        else:
            picked = rng.integers(0, len(targets), subjects).astype(np.int32)
        return np.where(picked == NONE, NONE, picked + targets.start).astype(np.int32)[:, None]

    def _lifework_years(self, rng: np.random.Generator, maker: str, part: Part) -> Ints:
        """Years of works: 20 to 60 years after the birth of whoever made them."""
        makers = self._facts[maker][part.name][:, 0] - part.ranges["person"].start
        born = self._facts["birth_year"][part.name][makers, 0]
        years: Ints = (born + 2 * rng.integers(10, 31, len(born))).astype(np.int32)
        return years

    def _with_source_first(self, crossed: Ints, part: Part) -> Ints:
        """A river crosses the region that it rises in; it is named first, and once."""
        source = self._facts["source"][part.name][:, :1]
        crossed = np.where(crossed == source, NONE, crossed)
        named: Ints = np.concatenate([source, crossed[:, 1:]], axis=1).astype(np.int32)
        return named


def value_text(kind: str, value: int) -> str:
    """A number as articles and answers write it.

    >>> value_text("year", 1843), value_text("kilometres", 312)
    ('1843', '312 kilometres')
    """
    return f"{value} kilometres" if kind == "kilometres" else str(value)


def value_aliases(kind: str, value: int) -> tuple[str, ...]:
    """Other spellings of a number that are right as well.

    >>> value_aliases("count", 12400), value_aliases("kilometres", 312)
    (('12,400',), ('312', '312 km', '312km', '312 kilometers'))
    """
    if kind == "kilometres":
        return (str(value), f"{value} km", f"{value}km", f"{value} kilometers")
    return (f"{value:,}",) if kind == "count" else ()


def _part(name: str, start: int, size: int, world_schema: Schema) -> Part:
    """Split a range of entities by the kinds' shares; every kind has at least two members."""
    total = sum(kind.share for kind in world_schema.kinds)
    sizes = [max(2, int(size * kind.share / total)) for kind in world_schema.kinds]
    sizes[0] += size - sum(sizes)
    part = Part(name)
    for kind, count in zip(world_schema.kinds, sizes, strict=True):
        part.ranges[kind.name] = range(start, start + count)
        start += count
    return part


def _parity(values: npt.NDArray[np.int64], odd: bool) -> Ints:
    return (values // 2 * 2 + odd).astype(np.int32)


def _values(rng: np.random.Generator, kind: str, count: int, odd: bool) -> Ints:
    low, high = _VALUE_RANGES[kind]
    return _parity(rng.integers(low, high, count), odd)


def _generations(rng: np.random.Generator, count: int, odd: bool) -> Ints:
    """Birth years that rise with the number, so that a mother (a lower number) is older than her child."""
    low, high = _VALUE_RANGES["year"]
    return _parity(low + (high - low) * np.arange(count) // max(1, count) + rng.integers(0, 5, count), odd)


def _elders(rng: np.random.Generator, count: int) -> Ints:
    """Mothers and teachers are about 20 to 40 years older, so many people further up; the oldest have none."""
    near, far = max(1, count * 7 // 100), max(2, count * 14 // 100)
    picked = np.arange(count) - rng.integers(near, far + 1, count)
    return np.where(picked < 0, NONE, picked).astype(np.int32)


def _cover(rng: np.random.Generator, count: int, targets: int) -> Ints:
    """Random targets, but the first subjects take one each, so that every target has a subject."""
    picked = rng.integers(0, targets, count).astype(np.int32)
    first = min(count, targets)
    picked[:first] = np.arange(first)
    return picked


def _several(rng: np.random.Generator, count: int, targets: int, most: int, start: int) -> Ints:
    """One to `most` different targets each; missing places hold NONE."""
    most = min(most, targets)
    base = rng.integers(0, targets, count)
    stride = rng.integers(1, max(2, targets // most), count)
    picked = (base[:, None] + stride[:, None] * np.arange(most)) % targets + start
    wanted = rng.integers(1, most + 1, count)
    return np.where(np.arange(most) < wanted[:, None], picked, NONE).astype(np.int32)
