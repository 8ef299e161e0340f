"""Questions as people put them, made of sentences; and lessons from a corpus that use them."""

import random

import pytest

from ssp.search.static import StaticSearcher
from ssp.seeds.reach import within_reach
from ssp.types import Doc, Seed
from ssp.warmup.asking import asking, statement
from ssp.warmup.cloze import ClozeLibrary
from ssp.warmup.phrasing import predicate, with_gap

DOCS = [
    Doc("1", "Arthur (film)", "Arthur is a 1996 French film directed by Ida Kern and starring Mira Dolven."),
    Doc(
        "2",
        "Ida Kern",
        "Ida Maria Kern (born 1 May 1950) is a Danish painter. She was born in Oakmere. Kern died in Dunford.",
    ),
    Doc("3", "Mira Dolven", "Mira Dolven (3 May 1901 – 9 June 1980) was the daughter of Tova Navan."),
    Doc("4", "Oakmere", "Oakmere is a town located in Velbeck. It was founded in 1843."),
]
ANSWERS = [
    "Ida Kern",
    "Mira Dolven",
    "1 May 1950",
    "Oakmere",
    "Danish",
    "3 May 1901",
    "9 June 1980",
    "Tova Navan",
    "Velbeck",
    "1843",
]


@pytest.mark.parametrize(
    ("sentence", "answer", "person", "question"),
    [
        ("Arthur was written by Ida Kern.", "Ida Kern", True, "Who wrote Arthur?"),
        ("Arthur was seen by Ida Kern.", "Ida Kern", True, "Who was Arthur seen by?"),
        ("Arthur was released in 1981.", "1981", False, "When was Arthur released?"),
        ("Arthur is a company headquartered in Oakmere.", "Oakmere", False, "Where is Arthur headquartered?"),
        ("Arthur is the capital of Velbeck.", "Velbeck", False, "What is Arthur the capital of?"),
        ("Arthur was the son of King Uther.", "King Uther", False, "Who was Arthur the son of?"),
        ("Arthur plays for Oakmere United.", "Oakmere United", False, "What did Arthur play for?"),
        ("Arthur died in Dunford.", "Dunford", False, "Where did Arthur die?"),
        ("Arthur died in 1999.", "1999", False, "When did Arthur die?"),
        ("Arthur is a Danish painter.", "Danish", False, "What nationality is Arthur?"),
        ("Arthur is a film starring Ida Kern.", "Ida Kern", True, "Who stars in Arthur?"),
        ("Arthur was named after Ida Kern.", "Ida Kern", True, "Who is Arthur named after?"),
        ("Arthur is a Search engine.", "Search", False, None),
        ("Arthur met his friend Ida Kern.", "Ida Kern", True, None),
    ],
)
def test_the_words_before_the_gap_decide_how_it_is_asked_for(
    sentence: str, answer: str, person: bool, question: str | None
) -> None:
    wording = with_gap(sentence, answer)
    assert wording is not None
    asked = asking(wording, predicate(wording, "Arthur"), answer, person)
    assert (asked and asked.question.format("Arthur")) == question


def test_a_first_sentence_is_about_the_title_however_it_is_spelled_out() -> None:
    said = "William Ferguson Slemons( March 15, 1830 – 1918) was a Representative."
    assert statement(said, "William F. Slemons", first=True).startswith("William F. Slemons( March 15")
    assert statement("Thelma is a town.", "Thelma, Kentucky", first=False) == "Thelma, Kentucky is a town."
    assert statement("Nobody knew him.", "Arthur", first=False) == "Arthur: Nobody knew him."


@pytest.fixture(scope="module")
def library() -> ClozeLibrary:
    return ClozeLibrary(DOCS, ANSWERS, StaticSearcher({}), natural=True)


def test_a_corpus_is_asked_about_in_plain_words(library: ClozeLibrary) -> None:
    asked = {library.ask((fact,), random.Random(0)): fact.objects[0] for doc in DOCS for fact in library.facts(doc)}
    assert asked == {
        "Who directed Arthur?": "Ida Kern",
        "Who stars in Arthur?": "Mira Dolven",
        "When was Ida Kern born?": "1 May 1950",
        "What nationality is Ida Kern?": "Danish",
        "Where was Ida Kern born?": "Oakmere",
        "When was Mira Dolven born?": "3 May 1901",
        "When did Mira Dolven die?": "9 June 1980",
        "Who was Mira Dolven the daughter of?": "Tova Navan",
        "Where is Oakmere located?": "Velbeck",
        "When was Oakmere founded?": "1843",
    }


def test_questions_of_two_hops_name_what_is_in_between_by_what_is_said_of_it(library: ClozeLibrary) -> None:
    asked = {library.puzzle(2, random.Random(seed)).question for seed in range(60)}
    assert {
        "Where was the person who directed Arthur born?",
        "When was the place where Ida Kern was born founded?",
    } <= asked


def test_other_languages_are_asked_about_with_gaps() -> None:
    docs = [Doc("1", "亚瑟", "亚瑟出生于橡湖市。"), Doc("2", "橡湖市", "橡湖市建于1843年。")]
    library = ClozeLibrary(docs, ["橡湖市", "1843年"], StaticSearcher({}), natural=True)
    assert "什么" in library.ask((library.facts(docs[0])[0],), random.Random(0))


def test_seeds_out_of_sight_or_reach_are_left_out() -> None:
    far = Doc("1", "Oakmere", f"Oakmere is a town. {'It is old. ' * 30}Its mayor is Mira.")
    near = Doc("2", "Dunford", "The mayor of Dunford is Tova.")
    searcher = StaticSearcher({"Mira": [far], "Tova": [near], "Dunford": [near], "Nobody": []})
    seeds = [Seed(name, name) for name in ("Mira", "Tova", "Dunford", "Nobody")]
    assert [one.answer for one in within_reach(seeds, searcher, 3, 100)] == ["Tova"], (
        "an article about it doesn't count"
    )
    assert [one.answer for one in within_reach(seeds, searcher, 3, 1000)] == ["Mira", "Tova"]
