"""Questions from sentences: what they ask for is what stood there, and names stay whole."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.search.static import StaticSearcher
from ssp.text import leaks
from ssp.types import Doc
from ssp.warmup.cloze import ClozeLibrary
from ssp.warmup.library import GAP
from ssp.warmup.phrasing import ask_for, predicate, standing_alone, with_gap

DOCS = [
    Doc("1", "Arthur (film)", "Arthur is a film. It was directed by Ida Kern, a painter. It is set in New Harrow."),
    Doc("2", "Ida Kern", "Ida Kern (born 5 May 1950) is a painter. She was born in Oakmere. Her brother is Tom Kern."),
    Doc("3", "Oakmere", "Oakmere is a town on the Velbeck. Its mayor in 1990 was Lena Ott."),
    Doc("4", "米拉", "米拉是一位作家。她出生于奥克米尔。"),
]
ANSWERS = ["Ida Kern", "Oakmere", "Velbeck", "Lena Ott", "Harrow", "1990", "Tom Kern", "奥克米尔"]


def library() -> ClozeLibrary:
    return ClozeLibrary(DOCS, ANSWERS, StaticSearcher({}))


@pytest.mark.parametrize(
    ("sentence", "answer", "wording"),
    [
        ("It was set in New Harrow.", "Harrow", None),
        ("It was set in Harrow Bridge.", "Harrow", None),
        ("It is on the Sea of Harrow.", "Harrow", None),
        ("It was set in Harrow, a town.", "Harrow", f"It was set in {GAP}."),
        ("Harrow is a town.", "Harrow", f"{GAP} is a town."),
        ("It was set in Elwick.", "Harrow", None),
        ("word " * 40 + "Harrow.", "Harrow", None),
        ("米拉出生于奥克米尔。", "奥克米尔", f"米拉出生于{GAP}。"),
    ],
)
def test_gaps(sentence: str, answer: str, wording: str | None) -> None:
    assert with_gap(sentence, answer) == wording


@pytest.mark.parametrize(
    ("hops", "questions"),
    [
        (1, {"Ida Kern was born in what?", "Oakmere is a town on the what?", "米拉出生于什么？"}),
        (2, {"Arthur (film) was directed by someone who was born in what?"}),
        (3, {"Arthur (film) was directed by someone who was born in something that is a town on the what?"}),
    ],
)
def test_questions_lead_along_the_facts(hops: int, questions: set[str]) -> None:
    made = [library().puzzle(hops, random.Random(n)) for n in range(60)]
    asked = {one.question for one in made if one.hops == hops}
    assert questions <= asked, asked
    assert not any(leaks(one.question, [one.answer or ""]) for one in made)


def test_facts_that_begin_with_their_subject_are_preferred() -> None:
    assert all(predicate(fact.wording, "Ida Kern") for fact in library().facts(DOCS[1]))


@given(st.text(max_size=60), st.text(min_size=1, max_size=20))
def test_any_text_can_be_phrased(sentence: str, answer: str) -> None:
    wording = with_gap(standing_alone(sentence, "Oakmere"), answer)
    assert wording is None or wording.count(GAP) >= 1
    if wording is not None:
        assert ask_for(wording, "what")[-1] in "?？"
