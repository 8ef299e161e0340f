"""BM25: built by bm25s, kept as memory-mapped arrays, searched by `topk`.

bm25s computes the scores of all (term, document) pairs once, when the index is built; a query only adds them up.
What this module adds is in the measured figures of docs/results.md: a build that does not hold the documents in
memory, a vocabulary that is read in place, and a search that touches only documents that contain a term and
breaks ties by corpus order.
"""

import array
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssp.errors import DataError
from ssp.search.analyzer import Analyzer, words
from ssp.search.arrays import open_array
from ssp.search.documents import Documents
from ssp.search.hits import Ranking, rank_hits
from ssp.search.vocabulary import Vocabulary, write_vocabulary
from ssp.types import Doc, Hit

K1, B, TITLE_WEIGHT = 1.5, 0.75, 3
_STARTS, _DOCS, _SCORES, _BOUNDS = "bm25.starts.npy", "bm25.docs.npy", "bm25.scores.npy", "bm25.bounds.npy"
_WORTH_A_THREAD = 16
_MAX_CELLS = 1 << 20


def write_bm25(directory: Path, docs: Iterable[Doc]) -> None:
    """Index the documents. The title counts as often as TITLE_WEIGHT repetitions of it in the text."""
    import bm25s

    numbers = _TermNumbers()
    counted = [numbers.of(doc) for doc in docs]
    terms = numbers.terms
    if not terms:
        raise DataError("the corpus has no words to search for")
    library = bm25s.BM25(k1=K1, b=B, method="lucene", csc_backend="numpy")
    scores = library.build_index_from_ids(list(terms.values()), counted, show_progress=False)
    starts = scores["indptr"].astype(np.int64)
    np.save(directory / _STARTS, starts)
    np.save(directory / _DOCS, scores["indices"].astype(np.int32))
    np.save(directory / _SCORES, scores["data"].astype(np.float32))
    np.save(directory / _BOUNDS, np.maximum.reduceat(scores["data"].astype(np.float32), starts[:-1]))
    write_vocabulary(directory, list(terms))


class _TermNumbers(dict[str, int]):
    """Term numbers by word. Terms (stems) are numbered in the order in which they are first met."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: dict[str, int] = {}
        self._analyzer = Analyzer()

    def of(self, doc: Doc) -> "array.array[int]":
        return array.array("I", [self[word] for word in words(doc.title) * TITLE_WEIGHT + words(doc.text)])

    def __missing__(self, word: str) -> int:
        number = self[word] = self.terms.setdefault(self._analyzer.stem(word), len(self.terms))
        return number


class Bm25Searcher:
    """Searches a BM25 index. Any number of processes and threads may use one index at once.

    `compiled=False` searches in NumPy without loading the compiler: slower, but quicker to a first answer.
    """

    def __init__(self, directory: Path, *, threads: int = 1, compiled: bool = True) -> None:
        self.documents = Documents(directory)
        self._vocabulary = Vocabulary(directory)
        self._analyzer = Analyzer()
        self._starts = open_array(directory / _STARTS)
        self._docs = open_array(directory / _DOCS)
        self._scores = open_array(directory / _SCORES)
        self._bounds = open_array(directory / _BOUNDS)
        self._search_chunk = self._search_compiled if compiled else self._search_numpy
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="bm25") if threads > 1 else None
        self._scratch = threading.local()

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return self.search_now(queries, k)

    async def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def search_now(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return rank_hits(self.documents, self.rank_now(queries, k))

    def rank_now(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """Document numbers and scores only, best first."""
        terms = [self._vocabulary.numbers(self._analyzer.query_terms(query)) for query in queries]
        k = min(k, len(self.documents))
        if k < 1:
            return [([], []) for _ in queries]
        share = -(-len(terms) // self._threads)
        if self._pool is None or share < _WORTH_A_THREAD:
            return self._search_chunk(terms, k)
        chunks = [terms[start : start + share] for start in range(0, len(terms), share)]
        found = self._pool.map(self._search_chunk, chunks, [k] * len(chunks))
        return [ranking for chunk in found for ranking in chunk]

    def _search_compiled(self, queries: Sequence[list[int]], k: int) -> list[Ranking]:
        from ssp.search import topk

        rows_at_once = max(1, _MAX_CELLS // k)
        if len(queries) > rows_at_once:
            parts = (queries[start : start + rows_at_once] for start in range(0, len(queries), rows_at_once))
            return [ranking for part in parts for ranking in self._search_compiled(part, k)]
        count = len(queries)
        terms = np.fromiter(chain.from_iterable(queries), dtype=np.int32)
        ends = np.cumsum(np.fromiter(map(len, queries), dtype=np.int64, count=count))
        docs, scores = np.empty((count, k), dtype=np.int32), np.empty((count, k), dtype=np.float32)
        sizes = np.empty(count, dtype=np.int64)
        postings = (self._bounds, self._starts, self._docs, self._scores)
        topk.search_batch(terms, ends, *postings, *self._buffers(), docs, scores, sizes)
        rows = zip(docs.tolist(), scores.tolist(), sizes.tolist(), strict=True)
        return [(numbers[:size], values[:size]) for numbers, values, size in rows]

    def _search_numpy(self, queries: Sequence[list[int]], k: int) -> list[Ranking]:
        from ssp.search import topk_numpy

        postings = (self._bounds, self._starts, self._docs, self._scores)
        asked = (np.array(terms, dtype=np.int32) for terms in queries)
        found = (topk_numpy.search_terms(terms, *postings, len(self.documents), k) for terms in asked)
        return [(docs.tolist(), scores.tolist()) for docs, scores in found]

    def _buffers(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Scratch of this thread: totals (all zero between searches) and the list of touched documents."""
        if getattr(self._scratch, "buffers", None) is None:
            size = len(self.documents)
            self._scratch.buffers = np.zeros(size, dtype=np.float32), np.empty(size, dtype=np.int32)
        pair: tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]] = self._scratch.buffers
        return pair
