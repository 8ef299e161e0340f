"""How sure one can be of a score, and of a difference between two. Pure functions; all chance comes from a seed.

Rates get Wilson intervals, other means and macro averages percentile bootstraps, comparisons on the same questions a
paired bootstrap and McNemar's exact test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, sqrt
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

_Z95 = 1.959963984540054
RESAMPLES = 10_000
_CHUNK = 2_000_000  # numbers drawn at once, which bounds memory
Interval = tuple[float, float]


def wilson(right: int, n: int) -> Interval:
    """The 95 % Wilson score interval of a rate; everything, if there is nothing to count.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    if n == 0:
        return 0.0, 1.0
    p = right / n
    scale = 1.0 + _Z95**2 / n
    middle = (p + _Z95**2 / (2 * n)) / scale
    half = _Z95 * sqrt(p * (1.0 - p) / n + _Z95**2 / (4 * n * n)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(values: Sequence[float], seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """The 95 % percentile interval of a mean."""
    return macro_bootstrap([values], seed, resamples)


def macro_bootstrap(groups: Sequence[Sequence[float]], seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """The same for the mean of the means of several groups; each is drawn anew within itself."""
    if not groups or any(len(values) == 0 for values in groups):
        raise ValueError("a bootstrap needs at least one value in every group")
    rng = np.random.default_rng(seed)
    means = sum(_resampled_means(np.asarray(values, float), rng, resamples) for values in groups)
    return _middle(np.asarray(means) / len(groups))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same questions: B minus A, its interval, and how likely so uneven a split is by chance."""

    n: int
    mean_a: float
    mean_b: float
    interval: Interval
    only_a: int  # questions that only A got right
    only_b: int
    p: float

    @property
    def difference(self) -> float:
        return self.mean_b - self.mean_a

    @property
    def in_words(self) -> str:
        """What can be concluded, and what can't."""
        low, high = self.interval
        if low > 0.0 and self.p < 0.05:
            return f"B is better than A on questions like these: by {low:+.1%} to {high:+.1%}"
        if high < 0.0 and self.p < 0.05:
            return f"B is worse than A on questions like these: by {low:+.1%} to {high:+.1%}"
        return (
            f"no difference is shown: anything from {low:+.1%} to {high:+.1%} fits these {self.n} questions, "
            "which does not mean that the two are equal"
        )


def compare(a: Sequence[bool], b: Sequence[bool], seed: int = 0, resamples: int = RESAMPLES) -> Comparison:
    """Right or wrong, question by question, in the same order."""
    if len(a) != len(b) or not a:
        raise ValueError("a paired comparison needs the same questions, at least one")
    left, right = np.asarray(a, float), np.asarray(b, float)
    only_a, only_b = int(((left == 1) & (right == 0)).sum()), int(((left == 0) & (right == 1)).sum())
    interval = _middle(_resampled_means(right - left, np.random.default_rng(seed), resamples))
    return Comparison(
        len(a), float(left.mean()), float(right.mean()), interval, only_a, only_b, mcnemar(only_a, only_b)
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """Two-sided exact p of McNemar's test: of the questions that only one got right, is one's share above a half?

    >>> round(mcnemar(2, 10), 4)
    0.0386
    """
    n, fewer = only_a + only_b, min(only_a, only_b)
    tail: int = sum(comb(n, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**n))


def pass_at(right: int, samples: int, k: int) -> float:
    """The chance that at least one of k draws from these samples is right, without bias (as in HumanEval).

    >>> pass_at(1, 4, 2)
    0.5
    """
    if not 0 <= right <= samples or not 0 < k <= samples:
        raise ValueError(f"pass@{k} of {right} right in {samples} samples")
    return 1.0 - comb(samples - right, k) / comb(samples, k)


def seeds_interval(means: Sequence[float]) -> Interval | None:
    """The 95 % t interval of the mean over runs with different seeds; None for a single run: that has no spread."""
    if len(means) < 2:
        return None
    from scipy.stats import t

    half = float(t.ppf(0.975, len(means) - 1)) * stdev(means) / sqrt(len(means))
    return fmean(means) - half, fmean(means) + half


def _resampled_means(values: NDArray[np.float64], rng: np.random.Generator, resamples: int) -> NDArray[np.float64]:
    rows = max(1, _CHUNK // len(values))
    parts = [
        values[rng.integers(0, len(values), (min(rows, resamples - begin), len(values)))].mean(axis=1)
        for begin in range(0, resamples, rows)
    ]
    return np.concatenate(parts)


def _middle(means: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
