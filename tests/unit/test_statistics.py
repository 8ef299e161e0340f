"""Intervals and tests, held against scipy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ssp.evaluate.statistics import bootstrap, compare, macro_bootstrap, mcnemar, pass_at, seeds_interval, wilson


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(counts: tuple[int, int]) -> None:
    right, n = counts
    theirs = stats.binomtest(right, n).proportion_ci(method="wilson")
    assert wilson(right, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_nothing_counted_is_nothing_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="at least one"):
        bootstrap([])


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test(only_a: int, only_b: int) -> None:
    theirs = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert mcnemar(only_a, only_b) == pytest.approx(theirs, abs=1e-9)


def test_the_bootstrap_is_scipys() -> None:
    values = np.random.default_rng(1).normal(0.4, 0.2, 80)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=2).confidence_interval
    assert bootstrap(values.tolist(), seed=3) == pytest.approx((theirs.low, theirs.high), abs=4e-3)


def test_a_macro_average_has_the_spread_of_independent_groups() -> None:
    rng = np.random.default_rng(0)
    groups = [rng.random(size).tolist() for size in (30, 300)]
    low, high = macro_bootstrap(groups, seed=1)
    spread = np.sqrt(sum(np.var(group) / len(group) for group in groups)) / 2
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.05)
    assert (high + low) / 2 == pytest.approx(np.mean([np.mean(group) for group in groups]), abs=5e-3)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9))
def test_seeds_are_a_level_of_their_own(means: list[float]) -> None:
    ours = seeds_interval(means)
    assert ours is not None
    error = stats.sem(means)
    if error > 1e-9:
        assert ours == pytest.approx(stats.t.interval(0.95, len(means) - 1, np.mean(means), error), abs=1e-9)
    assert seeds_interval(means[:1]) is None


def test_what_can_be_concluded_is_said_in_words() -> None:
    clear = compare([False] * 60 + [True] * 40, [True] * 50 + [False] * 10 + [True] * 40)
    assert clear.difference == pytest.approx(0.5)
    assert (clear.only_a, clear.only_b) == (0, 50)
    assert clear.in_words.startswith("B is better than A on questions like these: by +4")
    assert compare([True] * 40, [False] * 40).in_words.startswith("B is worse")
    unclear = compare([True, False] * 10, [True, False] * 9 + [False, True])
    assert unclear.p == 1.0
    assert "no difference is shown" in unclear.in_words
    assert "does not mean that the two are equal" in unclear.in_words
    with pytest.raises(ValueError, match="same questions"):
        compare([True], [True, False])


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(case: tuple[int, int, int]) -> None:
    samples, right, k = case
    theirs = 1.0 - stats.hypergeom.pmf(0, samples, right, k)
    assert pass_at(right, samples, k) == pytest.approx(theirs, abs=1e-9)
