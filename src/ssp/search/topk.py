"""The best k documents for the terms of a query, from precomputed scores in term order (CSC).

Terms are added up from the one that can matter most to the one that can matter least. Only documents that contain a
term are touched, and once the terms that are left can't lift a new document among the best k (MaxScore), they are only
looked up for documents already touched: a query costs what its telling words cost, not a pass over the corpus.

Equal scores go to the document with the lower number, whatever k is. The NumPy version in `topk_numpy` gives the same
bits, since both add float32 scores in the same order.
"""

from typing import Any

import numpy as np

from ssp.compiled import compiled

# Rounding of float32 sums can't bridge this: pruning never changes a result.
_MARGIN = 1.0001


@compiled()
def _is_worse(score_a: float, doc_a: int, score_b: float, doc_b: int) -> bool:
    return score_a < score_b or (score_a == score_b and doc_a > doc_b)


@compiled()
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


@compiled()
def _keep_best(totals: Any, touched: Any, count: int, docs: Any, scores: Any) -> int:
    """Fill the heap with the best of the touched documents; gives how many. The worst of them is at the root."""
    size = min(count, len(docs))
    for place in range(size):
        docs[place], scores[place] = touched[place], totals[touched[place]]
    for start in range(size // 2 - 1, -1, -1):
        _sift_down(docs, scores, start, size)
    for place in range(size, count):
        doc = touched[place]
        if _is_worse(scores[0], docs[0], totals[doc], doc):
            docs[0], scores[0] = doc, totals[doc]
            _sift_down(docs, scores, 0, size)
    return size


@compiled()
def _add_postings(start: int, end: int, doc_numbers: Any, values: Any, totals: Any, touched: Any, count: int) -> int:
    """Add a term's scores to all documents that have it; gives how many documents are touched now."""
    for place in range(start, end):
        doc = doc_numbers[place]
        if totals[doc] == 0.0:
            touched[count] = doc
            count += 1
        totals[doc] += values[place]
    return count


@compiled()
def _add_to_touched(start: int, end: int, doc_numbers: Any, values: Any, totals: Any, touched: Any, count: int) -> None:
    """Add a term's scores to touched documents only, by whichever way is shorter."""
    if count * 16 > end - start:
        for place in range(start, end):
            if totals[doc_numbers[place]] != 0.0:
                totals[doc_numbers[place]] += values[place]
        return
    for number in range(count):
        doc = touched[number]
        low, high = start, end
        while low < high:
            middle = (low + high) >> 1
            if doc_numbers[middle] < doc:
                low = middle + 1
            else:
                high = middle
        if low < end and doc_numbers[low] == doc:
            totals[doc] += values[low]


@compiled()
def _search(
    terms: Any,
    bounds: Any,
    starts: Any,
    doc_numbers: Any,
    values: Any,
    totals: Any,
    touched: Any,
    docs: Any,
    scores: Any,
) -> int:
    """Fill `docs` and `scores` with one query's best documents, best first; gives how many."""
    count, closed, left = 0, False, 0.0
    for term in terms:
        left += bounds[term]
    for term in terms:
        start, end = starts[term], starts[term + 1]
        if not closed and count >= len(docs) and end - start > count:
            _keep_best(totals, touched, count, docs, scores)
            closed = left * _MARGIN < scores[0]
        if closed:
            _add_to_touched(start, end, doc_numbers, values, totals, touched, count)
        else:
            count = _add_postings(start, end, doc_numbers, values, totals, touched, count)
        left -= bounds[term]
    size: int = _keep_best(totals, touched, count, docs, scores)
    for place in range(count):
        totals[touched[place]] = 0.0
    for last in range(size - 1, 0, -1):  # heap sort: the worst goes to the end
        docs[0], docs[last] = docs[last], docs[0]
        scores[0], scores[last] = scores[last], scores[0]
        _sift_down(docs, scores, 0, last)
    return size


@compiled()
def _most_telling_first(terms: Any, bounds: Any) -> Any:
    """A query's terms by falling bound (the highest score that each has anywhere); equal ones stay in order."""
    if len(terms) > 64:
        return terms[np.argsort(-bounds[terms], kind="mergesort")]
    ordered = terms.copy()
    for place in range(1, len(ordered)):
        term, before = ordered[place], place - 1
        while before >= 0 and bounds[ordered[before]] < bounds[term]:
            ordered[before + 1] = ordered[before]
            before -= 1
        ordered[before + 1] = term
    return ordered


@compiled()
def search_batch(
    terms: Any, ends: Any, bounds: Any, starts: Any, doc_numbers: Any, values: Any, totals: Any, touched: Any,
    docs: Any, scores: Any, sizes: Any,
) -> None:  # fmt: skip
    """Search for queries whose terms lie one after the other in `terms`, each up to its entry in `ends`.

    Row q of `docs` and `scores` gets the best documents of query q, best first, and `sizes[q]` how many. `totals` must
    be all zero and is left so.
    """
    begin = 0
    for query in range(len(ends)):
        asked = _most_telling_first(terms[begin : ends[query]], bounds)
        begin = ends[query]
        sizes[query] = _search(asked, bounds, starts, doc_numbers, values, totals, touched, docs[query], scores[query])
