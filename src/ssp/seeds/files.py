"""Seeds in files: our own rows, the rows of the published code, and verl's."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from ssp.errors import DataError
from ssp.types import Seed


def read_seeds(path: Path) -> list[Seed]:
    """Seeds from JSONL: `answer`, `aliases`, `hops`; or `ground_truth`, `search_turns`; or verl rows."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"can't read seeds from {path}: {error.strerror}") from None
    seeds = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            seeds.append(seed_of(orjson.loads(line), f"s{number}"))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"{path}, line {number} is not a seed: {error}") from None
    return seeds


def seed_of(row: Mapping[str, Any], otherwise: str) -> Seed:
    """A seed from a row of any of the forms; right answers may be a text or a list of texts.

    >>> seed_of({"ground_truth": "Steamship", "search_turns": "3"}, "s1").hops
    3
    >>> seed_of({"reward_model": {"ground_truth": {"target": ["Steamship", "steamer"]}}}, "s2").aliases
    ('steamer',)
    """
    given = row.get("answer", row.get("ground_truth"))
    if given is None:
        given = row["reward_model"]["ground_truth"]
    if isinstance(given, Mapping):
        given = given["target"]
    answers = [given] if isinstance(given, str) else list(given)
    extra = row.get("extra_info") or {}
    hops = row.get("hops") or row.get("search_turns") or extra.get("search_turns") or 1
    aliases = tuple(dict.fromkeys([*answers[1:], *row.get("aliases", ())]))
    return Seed(str(row.get("id", otherwise)), answers[0], aliases, int(hops))


def seed_rows(seeds: Iterable[Seed]) -> Iterator[bytes]:
    for one in seeds:
        yield orjson.dumps({"id": one.id, "answer": one.answer, "aliases": one.aliases, "hops": one.hops}) + b"\n"
