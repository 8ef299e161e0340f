"""Attention of single tokens over paged keys and values, compiled.

Sequences are independent of one another, so what is computed for one has the same bits whatever else is in the step.
torch's fused attention is more than ten times slower at this on a CPU, as it is made for many queries (docs/log.md).

The work is shared out over plain threads: numba's own thread pools and torch's wait for work by spinning, and two
spinning pools on the same cores slow each other down by an order of magnitude.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ssp.compiled import compiled


class PageAttention:
    """The kernel with the threads that it runs on."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(max(1, threads - 1), thread_name_prefix="ssp-attention")

    def __call__(
        self,
        queries: npt.NDArray[np.float32],
        keys: npt.NDArray[np.float32],
        values: npt.NDArray[np.float32],
        tables: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        scale: float,
        out: npt.NDArray[np.float32],
    ) -> None:
        """For each row of `queries` [rows, heads, size], attend to the first `lengths` tokens of its pages.

        `keys` and `values` are [pages, tokens, kv heads, size], `tables` [rows, most pages]; the result is in `out`.
        """
        bounds = _even_shares(lengths, self._threads)
        shares: list[tuple[Any, ...]] = [
            (queries[a:b], keys, values, tables[a:b], lengths[a:b], np.float32(scale), out[a:b])
            for a, b in pairwise(bounds)
            if a < b
        ]
        others = [self._pool.submit(_attend, *share) for share in shares[1:]]
        _attend(*shares[0])
        for other in others:
            other.result()


def _even_shares(lengths: npt.NDArray[np.int64], threads: int) -> list[int]:
    """Where to cut the rows so that each thread has about as many tokens to look at."""
    if threads == 1 or len(lengths) < 2 * threads:
        return [0, len(lengths)]
    total = np.cumsum(lengths)
    cuts = np.searchsorted(total, total[-1] * np.arange(1, threads) / threads)
    return [0, *cuts.tolist(), len(lengths)]


@compiled(fastmath=True)
def _attend(queries: Any, keys: Any, values: Any, tables: Any, lengths: Any, scale: Any, out: Any) -> None:
    rows, heads, size = queries.shape
    page_size = keys.shape[1]
    group = heads // keys.shape[2]
    for row in range(rows):
        length = lengths[row]
        weights = np.empty((heads, length), np.float32)
        for token in range(length):
            page, place = tables[row, token // page_size], token % page_size
            for head in range(heads):
                score = np.float32(0.0)
                for axis in range(size):
                    score += queries[row, head, axis] * keys[page, place, head // group, axis]
                weights[head, token] = score * scale
        for head in range(heads):
            highest = weights[head, 0]
            for token in range(1, length):
                highest = max(highest, weights[head, token])
            total = np.float32(0.0)
            for token in range(length):
                weight = np.exp(weights[head, token] - highest)
                weights[head, token] = weight
                total += weight
            for token in range(length):
                weights[head, token] /= total
            for axis in range(size):
                out[row, head, axis] = 0.0
        for token in range(length):
            page, place = tables[row, token // page_size], token % page_size
            for head in range(heads):
                weight = weights[head, token]
                for axis in range(size):
                    out[row, head, axis] += weight * values[page, place, head // group, axis]
