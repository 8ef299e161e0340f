"""Is the world real retrieval work? Two figures, from its own index.

Names must find their articles (or nothing could be learned), and whole multi-hop questions must not find all they
need at once (or nothing would have to be learned).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from ssp.protocols import LocalSearcher
from ssp.search.corpus import read_corpus
from ssp.types import Doc

SAMPLE = 20_000


@dataclass(frozen=True, slots=True)
class RetrievalCheck:
    """Shares between 0 and 1. `by_hops[n]`: questions of n hops whose gold articles all come from one search."""

    by_name: float
    by_hops: dict[int, float]
    by_multi_hop: float
    k: int


def check_retrieval(world: Path, searcher: LocalSearcher, k: int = 3) -> RetrievalCheck:
    """Search titles (all, or SAMPLE of them where there are more), and every held-out question as it stands."""
    docs = _spread(read_corpus([world / "corpus.jsonl"]), SAMPLE)
    found = searcher.search_now([doc.title for doc in docs], k)
    named = [any(hit.doc.id == doc.id for hit in hits) for doc, hits in zip(docs, found, strict=True)]
    questions = [orjson.loads(line) for line in (world / "questions.jsonl").read_bytes().splitlines()]
    found = searcher.search_now([row["question"] for row in questions], k)
    at_once: dict[int, list[bool]] = {}
    for row, hits in zip(questions, found, strict=True):
        complete = set(row["supporting_ids"]) <= {hit.doc.id for hit in hits}
        at_once.setdefault(row["hops"], []).append(complete)
    multi = [complete for hops, values in at_once.items() if hops > 1 for complete in values]
    return RetrievalCheck(
        by_name=_share(named),
        by_hops={hops: _share(values) for hops, values in sorted(at_once.items())},
        by_multi_hop=_share(multi),
        k=k,
    )


def _spread(docs: Iterable[Doc], most: int) -> list[Doc]:
    """At most `most` documents, evenly spread, without holding all of them: drop every other one when full."""
    kept: list[Doc] = []
    step = 1
    for number, doc in enumerate(docs):
        if number % step == 0:
            kept.append(doc)
            if len(kept) > most:
                kept, step = kept[::2], step * 2
    return kept


def _share(values: list[bool]) -> float:
    return sum(values) / max(1, len(values))
