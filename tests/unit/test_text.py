"""Scores and leak test: published cases, an independent implementation, and other scripts."""

import pytest

from ssp.text import answer_tokens, exact_match, f1, fold, leaks, normalise_answer, word_count


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("The Eiffel Tower!", "eiffel tower"),
        ("a  an the", ""),
        ("U.S.A.", "usa"),
        ("  Tab\tand\nnewline ", "tab and newline"),
        ("theatre", "theatre"),
        ("rock-n-roll", "rocknroll"),
    ],
)
def test_normalisation_is_the_official_one(raw: str, normal: str) -> None:
    assert normalise_answer(raw) == normal


def test_hotpotqa_yes_no_are_all_or_nothing() -> None:
    assert f1("yes", ["yes"]) == 1.0
    assert f1("yes it is", ["yes"]) == 0.0
    assert f1("no", ["no one"]) == 0.0


def test_best_answer_counts() -> None:
    assert exact_match("Paris", ["London", "the Paris"])
    assert f1("Paris France", ["London", "Paris"]) == pytest.approx(2 / 3)
    assert f1("Paris", []) == 0.0
    assert not exact_match("Paris", [])


def test_chinese_is_scored_by_character() -> None:
    assert exact_match("《红楼梦》", ["红楼梦"])
    assert exact_match("北京 大学", ["北京大学"])
    assert exact_match("１９４９年", ["1949年"])
    assert f1("北京大学", ["北京"]) == pytest.approx(2 * 0.5 * 1 / 1.5)
    assert answer_tokens("鲁迅（周树人）") == ["鲁", "迅", "周", "树", "人"]


@pytest.mark.parametrize(
    ("text", "answer", "leaking"),
    [
        ("Who ruled Rome in 80 BC?", "Rome", True),
        ("Who was Romeo?", "Rome", False),
        ("Where did Beyonce grow up?", "Beyoncé", True),
        ("Was it the cafe AU LAIT?", "Café au lait", True),
        ("It held 1,000 seats.", "1000", True),
        ("It held 1000 seats.", "1,000", True),
        ("It held 10,000 seats.", "1000", False),
        ("It has 1\u00a0000 or 1\u202f000 seats.", "1000", True),
        ("Version 1,000,000 of it", "1000000", True),
        ("Which album did Beatles fans like?", "The Beatles", True),
        ("What is Einstein's theory?", "Einstein", True),
        ("北京大学在哪里？", "北京", True),
        ("天安门在哪里？", "北京", False),
        ("鲁迅 的 原名？", "鲁迅", True),
        ("Who sang with !!! in 2004?", "!!!", True),
        ("Who sang in 2004?", "!!!", False),
        ("서울에서 열린 대회는?", "서울", True),
        ("New York City", "York New", False),
        ("", "x", False),
    ],
)
def test_leaks(text: str, answer: str, leaking: bool) -> None:
    assert leaks(text, [answer]) is leaking


def test_aliases_leak_too() -> None:
    assert leaks("Where is Peking?", ["Beijing", "Peking"])


def test_fold_keeps_marks_that_carry_meaning() -> None:
    assert fold("が") == "が"
    assert fold("Čapek, Ångström") == "capek, angstrom"


def test_words_are_counted_in_any_script() -> None:
    assert word_count("Where was she born?") == 4
    assert word_count("她出生在哪里？") == 6


def test_an_empty_answer_is_right_for_nobody() -> None:
    for answer in ("A", "The The", "!!!"):
        assert not exact_match("", [answer])
        assert not exact_match("...", [answer])
        assert f1("", [answer]) == 0.0
        assert exact_match(answer, [answer])
        assert f1(answer, [answer]) == 1.0
