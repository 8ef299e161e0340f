"""The facts of a world as the oracle reads them: entities by id, relations between ids, literal values.

`world.json` holds them as one entity or fact per line, so that a world of a million articles can be written and
read as a stream, while the file as a whole is one JSON object.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from ssp.errors import DataError
from ssp.worlds.schema import RICHNESS_LEVELS, Schema, schema
from ssp.worlds.world import World

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the world; its article has the same id."""

    id: str
    kind: str
    name: str
    heldout: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """All entities and facts. Objects are entity ids, or literal values for relations of value kind."""

    schema: Schema
    entities: dict[str, Entity]
    objects: dict[tuple[str, str], tuple[str, ...]]

    @classmethod
    def of(cls, world: World) -> "Facts":
        entities = {entity.id: entity for entity in _entities(world)}
        objects = {(subject, relation): tuple(values) for subject, relation, values in _facts(world)}
        return cls(world.schema, entities, objects)

    @classmethod
    def load(cls, path: Path) -> "Facts":
        """Read `world.json` (or the directory that holds it)."""
        path = path / "world.json" if path.is_dir() else path
        try:
            data = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            raise DataError(f"no world.json at {path}; write one with: ssp world --out DIR") from None
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path} is not valid JSON: {error}") from None
        try:
            return cls._from_data(data)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path} is not a world of this version of ssp ({error!r})") from None

    @classmethod
    def _from_data(cls, data: dict[str, Any]) -> "Facts":
        if data["format"] != FORMAT or data["richness"] not in RICHNESS_LEVELS:
            raise ValueError(f"format {data['format']}, richness {data['richness']}")
        entities = {
            entity_id: Entity(entity_id, kind, name, bool(heldout))
            for entity_id, kind, name, heldout in data["entities"]
        }
        objects = {(subject, relation): tuple(values) for subject, relation, values in data["facts"]}
        return cls(schema(data["richness"]), entities, objects)


def write_facts(world: World, stream: IO[bytes]) -> None:
    """Write `world.json`, one entity or fact a line."""
    settings = world.settings
    head = {
        "format": FORMAT,
        "articles": settings.articles,
        "seed": settings.seed,
        "richness": settings.richness,
        "heldout": settings.heldout,
    }
    stream.write(orjson.dumps(head)[:-1] + b',\n"entities":[\n')
    _write_rows(stream, ([e.id, e.kind, e.name, e.heldout] for e in _entities(world)))
    stream.write(b'],\n"facts":[\n')
    _write_rows(stream, ([subject, relation, list(values)] for subject, relation, values in _facts(world)))
    stream.write(b"]}\n")


def _write_rows(stream: IO[bytes], rows: Iterator[list[Any]]) -> None:
    separator = b""
    for row in rows:
        stream.write(separator + orjson.dumps(row))
        separator = b",\n"
    stream.write(b"\n")


def _entities(world: World) -> Iterator[Entity]:
    for part in (world.train, world.island):
        for entity in part.entities:
            heldout = part is world.island
            yield Entity(world.doc_id(entity), world.kind(entity), world.name(entity), heldout)


def _facts(world: World) -> Iterator[tuple[str, str, list[str]]]:
    for entity in range(len(world)):
        for relation, objects in world.facts(entity):
            texts = [
                world.object_text(relation, value) if relation.is_value else world.doc_id(value) for value in objects
            ]
            yield world.doc_id(entity), relation.name, texts
