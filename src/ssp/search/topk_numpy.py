"""The same search as `topk`, in plain NumPy: the reference for its tests, and no compiler to load for one query."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


def search_terms(
    terms: Ints, bounds: Floats, starts: npt.NDArray[np.int64], doc_numbers: Ints, values: Floats, size: int, k: int
) -> tuple[Ints, Floats]:
    """The best k of `size` documents for one query's terms, and their scores, best first."""
    totals = np.zeros(size, dtype=np.float32)
    for term in terms[np.argsort(-bounds[terms], kind="stable")]:
        postings = slice(starts[term], starts[term + 1])
        totals[doc_numbers[postings]] += values[postings]  # a document comes once in a term's postings
    touched = np.flatnonzero(totals)
    best = touched[np.lexsort((touched, -totals[touched]))][:k]
    return best.astype(np.int32), totals[best]
