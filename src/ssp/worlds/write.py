"""Writing a world: corpus, seeds, held-out questions and facts, each as a stream."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from ssp.errors import ConfigError
from ssp.files import new_directory
from ssp.rng import numpy_random, python_random
from ssp.worlds.articles import article
from ssp.worlds.facts import write_facts
from ssp.worlds.questions import answers, sample_chains, word_question
from ssp.worlds.world import World, WorldSettings, value_aliases, value_text

QUESTIONS_PER_HOP = 500
MAX_SEEDS = 50_000
MAX_HOPS = 4
Progress = Callable[[int], None]


def write_world(
    settings: WorldSettings, out: Path, hops: int = MAX_HOPS, advance: Progress = lambda _: None
) -> dict[str, int]:
    """Write a world into a new directory; gives the number of rows of each kind. `advance` hears of articles."""
    if not 1 <= hops <= MAX_HOPS:
        raise ConfigError(f"hops must be between 1 and {MAX_HOPS}, got {hops}")
    with new_directory(out, "world") as scratch:
        world = World(settings)
        counts = {
            "articles": _write_lines(scratch / "corpus.jsonl", _corpus_rows(world, advance)),
            "seeds": _write_lines(scratch / "seeds.jsonl", seed_rows(world, hops)),
        }
        rows = [row for n in range(1, hops + 1) for row in question_rows(world, n)]
        _write_lines(scratch / "questions.jsonl", iter(rows))
        counts |= {f"questions-{n}": sum(row["hops"] == n for row in rows) for n in range(1, hops + 1)}
        with (scratch / "world.json").open("wb") as stream:
            write_facts(world, stream)
    return counts


def _write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    with path.open("wb") as stream:
        for row in rows:
            stream.write(orjson.dumps(row) + b"\n")
            count += 1
    return count


def _corpus_rows(world: World, advance: Progress) -> Iterator[dict[str, Any]]:
    for entity in range(len(world)):
        doc = article(world, entity)
        yield {"id": doc.id, "title": doc.title, "text": doc.text}
        advance(1)


def question_rows(world: World, hops: int) -> list[dict[str, Any]]:
    """The held-out evaluation questions with this number of hops, balanced over the relation asked for."""
    rows = []
    for number, chain in enumerate(sample_chains(world, world.island, hops, QUESTIONS_PER_HOP)):
        rng = python_random(world.settings.seed, "question", hops, number)
        rows.append(
            {
                "id": f"world-{hops}-{number:04d}",
                "question": word_question(world, chain, rng),
                "answers": answers(world, chain),
                "hops": hops,
                "relations": [relation.name for relation in chain.relations],
                "start": world.doc_id(chain.start),
                "supporting_ids": [world.doc_id(entity) for entity in chain.path],
            }
        )
    return rows


def seed_rows(world: World, hops: int) -> Iterator[dict[str, Any]]:
    """Answers for proposers: everything in the training part that some chain of n relations ends at."""
    groups = list(_reachable_answers(world, hops))
    ends = np.cumsum([len(group.values) for group in groups])
    order = numpy_random(world.settings.seed, "seeds").permutation(int(ends[-1]))[:MAX_SEEDS]
    for number, index in enumerate(order.tolist()):
        place = int(np.searchsorted(ends, index, side="right"))
        group = groups[place]
        value = int(group.values[index - ends[place]])
        is_entity = group.kind == "entity"
        yield {
            "id": f"s{number:06d}",
            "answer": world.name(value) if is_entity else value_text(group.kind, value),
            "aliases": [] if is_entity else list(value_aliases(group.kind, value)),
            "hops": group.hops,
            "meta": {"kind": world.kind(value) if is_entity else group.kind},
        }


@dataclass(frozen=True, slots=True)
class _Answers:
    """Answers of one kind ("entity", or a kind of value) at the end of chains of this many relations."""

    kind: str
    hops: int
    values: npt.NDArray[np.int64]


def _reachable_answers(world: World, hops: int) -> Iterator[_Answers]:
    """What chains inside the training part can end at, by kind and number of relations."""
    reachable = np.ones(len(world), dtype=bool)
    for wanted in range(1, hops + 1):
        following = np.zeros(len(world), dtype=bool)
        values: dict[str, list[npt.NDArray[np.int32]]] = {}
        for relation in world.schema.relations:
            subjects, objects = world.links(relation, world.train)
            ends = objects[reachable[subjects]]
            if relation.is_value:
                values.setdefault(relation.object, []).append(ends)
            else:
                following[ends] = True
        yield _Answers("entity", wanted, np.flatnonzero(following))
        for kind in sorted(values):
            yield _Answers(kind, wanted, np.unique(np.concatenate(values[kind])).astype(np.int64))
        reachable = following
