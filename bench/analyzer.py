"""What each choice of the analyzer is worth: recall of variants, all scored by bm25s with the same k1 and b.

Choices were made on the training questions; the evaluation sets are shown beside them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from bench.common import save, table
from bench.recall import DEPTHS, data_folder
from ssp.search.analyzer import QUERY_STOP_WORDS, words
from ssp.search.corpus import read_corpus
from ssp.types import Doc

SETS = ("hotpotqa_train", "musique_train", "hotpotqa", "2wiki", "musique")
Terms = Callable[[str], list[str]]


def terms(stem: bool, dropped: frozenset[str]) -> Terms:
    stemmer = Stemmer.Stemmer("english", 100_000)

    def split(text: str) -> list[str]:
        found = words(text)
        kept = [word for word in found if word not in dropped] or found
        stems: list[str] = stemmer.stemWords(kept) if stem else kept
        return stems

    return split


def score(docs: list[Doc], data: Path, document: Terms, query: Terms, title: int) -> dict[str, float]:
    library = bm25s.BM25(backend="numba")
    library.index([document(doc.title) * title + document(doc.text) for doc in docs], show_progress=False)
    result: dict[str, float] = {}
    for name in SETS:
        rows = [json.loads(line) for line in (data / "qa" / f"{name}.jsonl").read_bytes().splitlines()]
        asked = [query(row["question"]) for row in rows]
        found, _ = library.retrieve(asked, k=max(DEPTHS), show_progress=False)
        shares = [
            sum(doc_id in [docs[n].id for n in row_found[:k]] for doc_id in row["supporting_ids"])
            / len(row["supporting_ids"])
            for row, row_found in zip(rows, found, strict=True)
            for k in DEPTHS
        ]
        result[name] = round(100 * sum(shares) / len(shares), 1)
    return result


def main(_sizes: list[int]) -> None:
    data = data_folder()
    if data is None:
        return
    docs = list(read_corpus([data / "corpus" / "wiki_small.jsonl.gz"]))
    none, common = frozenset[str](), frozenset(STOPWORDS_EN)
    rows: list[dict[str, Any]] = []
    for label, stem, in_document, in_query, title in [
        ("no stemming, common words dropped everywhere", False, common, common, 1),
        ("stemming, common words dropped everywhere", True, common, common, 1),
        ("stemming, nothing dropped", True, none, none, 1),
        ("stemming, common words dropped from queries", True, none, common, 1),
        ("stemming, question words dropped from queries too", True, none, QUERY_STOP_WORDS, 1),
        ("the same, title × 2", True, none, QUERY_STOP_WORDS, 2),
        ("the same, title × 3 (ours)", True, none, QUERY_STOP_WORDS, 3),
        ("the same, title × 4", True, none, QUERY_STOP_WORDS, 4),
        ("title × 3 without stemming", False, none, QUERY_STOP_WORDS, 3),
    ]:
        shares = score(docs, data, terms(stem, in_document), terms(stem, in_query), title)
        mean = (shares["hotpotqa_train"] + shares["musique_train"]) / 2
        rows.append({"variant": label, "mean of training sets": round(mean, 1), **shares})
    save("analyzer", rows)
    print(table(rows))
