"""The best k documents for the terms of a query, from precomputed scores in term order (CSC).

Only documents that contain a term are touched: a query for rare names costs what its postings cost, not a pass over
the corpus. Equal scores go to the document with the lower number, whatever k is. The compiled and the
NumPy version give the same bits, since both add float32 scores in the order of the query's terms.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


@njit(nogil=True, cache=True)
def _is_worse(score_a: float, doc_a: int, score_b: float, doc_b: int) -> bool:
    return score_a < score_b or (score_a == score_b and doc_a > doc_b)


@njit(nogil=True, cache=True)
def _sift_down(docs: Any, scores: Any, start: int, end: int) -> None:
    """Restore a heap whose root is its worst entry."""
    parent = start
    while True:
        child = 2 * parent + 1
        if child >= end:
            return
        if child + 1 < end and _is_worse(scores[child + 1], docs[child + 1], scores[child], docs[child]):
            child += 1
        if not _is_worse(scores[child], docs[child], scores[parent], docs[parent]):
            return
        docs[parent], docs[child] = docs[child], docs[parent]
        scores[parent], scores[child] = scores[child], scores[parent]
        parent = child


@njit(nogil=True, cache=True)
def _accumulate(terms: Any, starts: Any, doc_numbers: Any, values: Any, totals: Any, touched: Any) -> int:
    """Add up scores by document; gives how many documents were touched. `totals` must be all zero."""
    count = 0
    for term in terms:
        for place in range(starts[term], starts[term + 1]):
            doc = doc_numbers[place]
            if totals[doc] == 0.0:
                touched[count] = doc
                count += 1
            totals[doc] += values[place]
    return count


@njit(nogil=True, cache=True)
def search_terms(
    terms: Any, starts: Any, doc_numbers: Any, values: Any, totals: Any, touched: Any, docs: Any, scores: Any
) -> int:
    """Fill `docs` and `scores` with the best documents, best first; gives how many. Leaves `totals` all zero."""
    count = _accumulate(terms, starts, doc_numbers, values, totals, touched)
    k, size = len(docs), 0
    for place in range(count):
        doc = touched[place]
        score = totals[doc]
        totals[doc] = 0.0
        if size < k:
            docs[size], scores[size] = doc, score
            size += 1
            if size == k:
                for start in range(k // 2 - 1, -1, -1):
                    _sift_down(docs, scores, start, k)
        elif _is_worse(scores[0], docs[0], score, doc):
            docs[0], scores[0] = doc, score
            _sift_down(docs, scores, 0, k)
    if size < k:
        for start in range(size // 2 - 1, -1, -1):
            _sift_down(docs, scores, start, size)
    for end in range(size - 1, 0, -1):  # heap sort: the worst goes to the end
        docs[0], docs[end] = docs[end], docs[0]
        scores[0], scores[end] = scores[end], scores[0]
        _sift_down(docs, scores, 0, end)
    return size
