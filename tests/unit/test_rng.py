"""Derived randomness."""

from hypothesis import given
from hypothesis import strategies as st

from ssp.rng import derive, numpy_random, python_random

parts = st.lists(st.integers() | st.text(max_size=6), max_size=4)


@given(st.integers(0, 2**40), parts, parts)
def test_keys_differ_unless_the_purpose_is_the_same(seed: int, left: list[int | str], right: list[int | str]) -> None:
    same = [(type(p), p) for p in left] == [(type(p), p) for p in right]
    assert (derive(seed, *left) == derive(seed, *right)) == same
    assert 0 <= derive(seed, *left) < 2**63


def test_the_stream_is_fixed() -> None:
    """Runs recorded on one machine must resume on another."""
    assert derive(0, "solve", 3, "p17") == 8732765616536199390
    assert python_random(1, "x").randrange(10**9) == 924039714
    assert int(numpy_random(1, "x").integers(10**9)) == 591472320
