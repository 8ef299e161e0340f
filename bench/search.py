"""Embedded BM25: ours, bm25s used directly, and tantivy, on the same corpora and queries, one after the other.

Each system runs in a process of its own: it builds an index from corpus.jsonl, opens it in a fresh process, and
answers names and whole questions, one at a time and in batches of 256 with two threads. All return whole documents,
k = 3. Rates are those of the best of up to nine rounds.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from bench.common import OUT, in_process, queries, save, table, world

K, COUNT, BATCH, THREADS = 3, 1000, 256, 2
ROUNDS_SECONDS = 5.0
SYSTEMS = ("ssp", "bm25s", "tantivy")
Ask = Callable[[list[str]], list[Any]]


def rows_of(corpus: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in corpus.read_bytes().splitlines()]


def build_ssp(corpus: Path, out: Path) -> None:
    from ssp.search.corpus import read_corpus
    from ssp.search.index import build_index

    build_index(read_corpus([corpus]), out)


def open_ssp(index: Path) -> Ask:
    from ssp.search import topk  # noqa: F401 - the compiler is loaded before memory is measured
    from ssp.search.index import open_index

    before = resident()
    started = time.perf_counter()
    searcher = open_index(index, threads=THREADS)
    report_open(started, before)
    return lambda asked: searcher.search_now(asked, K)


def build_bm25s(corpus: Path, out: Path) -> None:
    import bm25s
    import Stemmer

    rows = rows_of(corpus)
    tokens = bm25s.tokenize(
        [f"{row['title']} {row['text']}" for row in rows], stemmer=Stemmer.Stemmer("english"), show_progress=False
    )
    library = bm25s.BM25(backend="numba")
    library.index(tokens, show_progress=False)
    library.save(out, corpus=rows, show_progress=False)


def open_bm25s(index: Path) -> Ask:
    import bm25s
    import bm25s.numba.retrieve_utils  # the compiler is loaded before memory is measured
    import Stemmer

    before = resident()
    started = time.perf_counter()
    library = bm25s.BM25.load(index, mmap=True, load_corpus=True)
    library.backend = "numba"
    report_open(started, before)
    stemmer = Stemmer.Stemmer("english")

    def ask(asked: list[str]) -> list[Any]:
        tokens = bm25s.tokenize(asked, stemmer=stemmer, show_progress=False)
        threads = THREADS if len(asked) > 1 else 1
        found, _ = library.retrieve(tokens, k=K, show_progress=False, n_threads=threads)
        return list(found)

    return ask


def build_tantivy(corpus: Path, out: Path) -> None:
    import tantivy

    out.mkdir()
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("title", stored=True, tokenizer_name="en_stem", index_option="freq")
    schema.add_text_field("text", stored=True, tokenizer_name="en_stem", index_option="freq")
    index = tantivy.Index(schema.build(), path=str(out))
    writer = index.writer(heap_size=400_000_000, num_threads=THREADS)
    for line in corpus.open("rb"):
        row = json.loads(line)
        writer.add_document(tantivy.Document(id=row["id"], title=row["title"], text=row["text"]))
    writer.commit()
    writer.wait_merging_threads()


def open_tantivy(index: Path) -> Ask:
    import re

    import tantivy

    before = resident()
    started = time.perf_counter()
    opened = tantivy.Index.open(str(index))
    searcher = opened.searcher()
    report_open(started, before)

    def ask(asked: list[str]) -> list[Any]:
        found = []
        for query in asked:
            parsed, _ = opened.parse_query_lenient(re.sub(r"[^\w ]", " ", query), ["title", "text"])
            found.append([searcher.doc(address).to_dict() for _, address in searcher.search(parsed, K).hits])
        return found

    return ask


opened: dict[str, float] = {}


def report_open(started: float, before: float) -> None:
    opened["load s"] = time.perf_counter() - started
    opened["load MB"] = resident() - before
    opened["before"] = before


def resident() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


def measure(system: str, size: int, index: Path) -> dict[str, float]:
    """Open and ask, in this process."""
    ask = {"ssp": open_ssp, "bm25s": open_bm25s, "tantivy": open_tantivy}[system](index)
    result = {key: opened[key] for key in ("load s", "load MB")}
    ask(["warm up", "once"])
    ask(["warm up"])
    for name, asked in queries(size, COUNT).items():
        ask(asked)  # once for the page cache: all systems are measured warm
        result[f"{name}/s"] = per_second(ask, asked, 1)
        result[f"{name}/s batched"] = per_second(ask, asked, BATCH)
    result["MB after queries"] = resident() - opened["before"]
    return result


def per_second(ask: Ask, asked: list[str], batch: int) -> float:
    """Queries per second in the best of up to nine rounds that fit into ROUNDS_SECONDS.

    The best, since others use the machine too: what disturbs a round only ever makes it slower.
    """
    rates: list[float] = []
    begun = time.perf_counter()
    while len(rates) < 9 and (not rates or time.perf_counter() - begun < ROUNDS_SECONDS):
        started = time.perf_counter()
        for start in range(0, len(asked), batch):
            ask(asked[start : start + batch])
        rates.append(len(asked) / (time.perf_counter() - started))
    return max(rates)


def worker(action: str, system: str, size: int) -> dict[str, float]:
    corpus, index = world(size) / "corpus.jsonl", OUT / f"{system}-{size}"
    if action == "ask":
        return measure(system, size, index)
    shutil.rmtree(index, ignore_errors=True)
    started = time.perf_counter()
    {"ssp": build_ssp, "bm25s": build_bm25s, "tantivy": build_tantivy}[system](corpus, index)
    seconds = time.perf_counter() - started
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    size_mb = sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / 1e6
    return {"index s": seconds, "index peak MB": peak, "size MB": size_mb}


def main(sizes: list[int]) -> None:
    rows: list[dict[str, Any]] = []
    for size in sizes:
        world(size)
        for system in SYSTEMS:
            built = in_process("bench.search", "build", system, size)
            rows.append(
                {"passages": size, "system": system, **built, **in_process("bench.search", "ask", system, size)}
            )
            print(table(rows[-1:]), flush=True)
    save("search", rows)
    print(table(rows))


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        print(json.dumps(worker(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
