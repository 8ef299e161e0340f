"""Recall of supporting passages by one search with the question, on real multi-hop sets.

Needs the folder that SSP_TEST_DATA names (default: ../shared/data beside the project).
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.common import OUT, save, table

SETS = ("hotpotqa", "2wiki", "musique")
DEPTHS = (3, 5, 10)
Rank = Callable[[list[str], int], list[list[str]]]


def recall(rank: Rank, data: Path) -> dict[str, float]:
    """Mean share of supporting passages among the first k, in percent."""
    result: dict[str, float] = {}
    for name in SETS:
        rows = [json.loads(line) for line in (data / "qa" / f"{name}.jsonl").read_bytes().splitlines()]
        found = rank([row["question"] for row in rows], max(DEPTHS))
        for k in DEPTHS:
            shares = [
                sum(doc_id in ids[:k] for doc_id in row["supporting_ids"]) / len(row["supporting_ids"])
                for row, ids in zip(rows, found, strict=True)
            ]
            result[f"{name} @{k}"] = round(100 * sum(shares) / len(shares), 1)
    result["mean"] = round(sum(result.values()) / len(result), 2)
    return result


def plain_bm25s(data: Path) -> Rank:
    """bm25s as its README shows it: default tokenizer, English stop words, no stemmer."""
    import bm25s

    from ssp.search.corpus import read_corpus

    docs = list(read_corpus([data / "corpus" / "wiki_small.jsonl.gz"]))
    library = bm25s.BM25()
    library.index(bm25s.tokenize([f"{doc.title} {doc.text}" for doc in docs], show_progress=False), show_progress=False)

    def rank(asked: list[str], k: int) -> list[list[str]]:
        found, _ = library.retrieve(bm25s.tokenize(asked, show_progress=False), k=k, show_progress=False)
        return [[docs[number].id for number in row] for row in found]

    return rank


def ours(kind: str, data: Path) -> Rank:
    """Our index of this kind. The hybrid one holds both; it takes about 20 minutes to encode and is kept."""
    from ssp.search.corpus import read_corpus
    from ssp.search.index import build_index, open_index

    folder = OUT / "wiki_small-hybrid"
    if not folder.exists():
        build_index(read_corpus([data / "corpus" / "wiki_small.jsonl.gz"]), folder, kind="hybrid")
    view = OUT / f"wiki_small-{kind}"
    if not view.exists():
        shutil.copytree(folder, view)
        manifest = json.loads((view / "index.json").read_text())
        (view / "index.json").write_text(json.dumps(manifest | {"kind": kind}))
    searcher = open_index(view, threads=2)

    def rank(asked: list[str], k: int) -> list[list[str]]:
        return [[hit.doc.id for hit in hits] for hits in searcher.search_now(asked, k)]

    return rank


def data_folder() -> Path | None:
    """Where the real data is; says so where it is missing."""
    data = Path(os.environ.get("SSP_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if data.is_dir():
        return data
    print(f"skipped: no real data at {data}; set SSP_TEST_DATA")
    return None


def main(_sizes: list[int]) -> None:
    data = data_folder()
    if data is None:
        return
    rows: list[dict[str, Any]] = [{"system": "plain bm25s", **recall(plain_bm25s(data), data)}]
    rows += [{"system": f"ssp {kind}", **recall(ours(kind, data), data)} for kind in ("bm25", "dense", "hybrid")]
    save("recall", rows)
    print(table(rows))
