"""Invariants of the text functions, and agreement with an independent SQuAD implementation."""

from hypothesis import given
from hypothesis import strategies as st
from torchmetrics.functional.text.squad import _compute_exact_match_score, _compute_f1_score

from ssp.text import exact_match, f1, leaks, normalise_answer

english = st.text(alphabet=st.sampled_from("abcTHEan the. ,'-!?0123\t\néñ–"), max_size=40)
words = st.lists(st.sampled_from("the a cat Dog's mat, ran 1,000 U.S. naïve".split()), max_size=8).map(" ".join)
spaced = st.one_of(english, words).filter(lambda text: normalise_answer(text) not in ("", "yes", "no", "noanswer"))


@given(spaced, spaced)
def test_agrees_with_an_independent_implementation(prediction: str, answer: str) -> None:
    assert exact_match(prediction, [answer]) == bool(_compute_exact_match_score(prediction, answer))
    assert abs(f1(prediction, [answer]) - float(_compute_f1_score(prediction, answer))) < 1e-6


@given(st.text(max_size=60))
def test_normalisation_is_idempotent_for_matching(text: str) -> None:
    normal = normalise_answer(text)
    assert exact_match(normal, [text]) or normal == "", "only where nothing is left may they differ"
    assert exact_match(text, [text])
    assert f1(text, [text]) == 1.0


@given(st.text(max_size=30), st.text(max_size=30))
def test_f1_is_symmetric_and_bounded(left: str, right: str) -> None:
    assert 0.0 <= f1(left, [right]) <= 1.0
    assert abs(f1(left, [right]) - f1(right, [left])) < 1e-12
    if exact_match(left, [right]):
        assert f1(left, [right]) == 1.0


@given(st.text(max_size=20), st.text(min_size=1, max_size=15).filter(str.strip), st.text(max_size=20))
def test_an_answer_set_apart_by_spaces_leaks(before: str, answer: str, after: str) -> None:
    assert leaks(f"{before} {answer} {after}", [answer])


@given(st.text(max_size=40), st.text(max_size=15))
def test_leaking_ignores_case(text: str, answer: str) -> None:
    assert leaks(text, [answer]) == leaks(text.swapcase().swapcase(), [answer])
    if text.isascii() and answer.isascii() and any(c.isalnum() for c in answer):
        assert leaks(text, [answer]) == leaks(text.upper(), [answer.lower()])
