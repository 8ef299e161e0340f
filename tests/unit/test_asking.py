"""Questions as people put them, made of sentences; and lessons from a corpus that use them."""

import random

import pytest

from ssp.search.static import StaticSearcher
from ssp.seeds.reach import within_reach
from ssp.types import Doc, Seed
from ssp.warmup.asking import asking, statement
from ssp.warmup.cloze import ClozeLibrary
from ssp.warmup.library import GAP
from ssp.warmup.phrasing import predicate, with_gap
from ssp.warmup.relations import relation

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
    "painter",
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
        ("Arthur is a band headquartered in Oakmere.", "Oakmere", False, "Where is Arthur headquartered?"),
        ("Arthur is the capital of Velbeck.", "Velbeck", False, "What is Arthur the capital of?"),
        ("Arthur was the son of King Uther.", "King Uther", False, "Who was Arthur the son of?"),
        ("Arthur works for Oakmere United.", "Oakmere United", False, "What did Arthur work for?"),
        ("Arthur is a film by and for people, produced by Velbeck.", "Velbeck", False, "Who produced Arthur?"),
        ("Arthur is a novel by the Danish painter Ida Kern.", "Ida Kern", True, "Who is the author of Arthur?"),
        ("Arthur is a small river in Velbeck.", "Velbeck", False, "Where is Arthur located?"),
        ("Arthur died in Dunford.", "Dunford", False, "Where did Arthur die?"),
        ("Arthur died in 1999.", "1999", False, "When did Arthur die?"),
        ("Arthur is a Danish film.", "Danish", False, None),
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
    assert (asked and asked.questions[0].format("Arthur")) == question


@pytest.mark.parametrize(
    ("sentence", "answer", "person", "question"),
    [
        ("Arthur was the son of King Uther.", "King Uther", False, "Who is the father of Arthur?"),
        ("Arthur (born 3 May 1950 in Oakmere, Velbeck) is a poet.", "Oakmere", False, "Where was Arthur born?"),
        ("Arthur (born 3 May 1950 in Oakmere, Velbeck) is a poet.", "Velbeck", False, None),
        ("Arthur was born on 3 May 1950 in the town of Oakmere.", "Oakmere", False, "Where was Arthur born?"),
        ("Arthur died in his house in Oakmere.", "Oakmere", False, "Where did Arthur die?"),
        ("Arthur is a Danish painter.", "Danish", False, "What nationality is Arthur?"),
        ("Arthur (born 1950) is a retired Danish ice hockey player and poet.", "ice hockey player", False,
         "What is Arthur's occupation?"),
        ("Arthur (born 1950) is a retired Danish ice hockey player and poet.", "poet", False, None),
        ("Arthur was born and raised in Oakmere.", "Oakmere", False, "Where was Arthur born?"),
        ("Arthur was born at Dunford and died in Oakmere.", "Oakmere", False, "Where did Arthur die?"),
        ("Arthur was born at Dunford and studied law in Oakmere.", "Oakmere", False, None),
        ("Arthur plays for Oakmere United.", "Oakmere United", False, "Which team did Arthur play for?"),
        ("Arthur studied law at Oakmere College.", "Oakmere College", False, "Where did Arthur study?"),
        ("Arthur married the singer Ida Kern.", "Ida Kern", True, "Who is the spouse of Arthur?"),
    ],
)  # fmt: skip
def test_what_is_always_said_of_people_is_known_wherever_it_stands(
    sentence: str, answer: str, person: bool, question: str | None
) -> None:
    wording = with_gap(sentence, answer) or sentence.replace(answer, GAP, 1)
    asked = asking(wording, predicate(wording, "Arthur"), answer, person, of_person=True)
    assert (asked and asked.questions[0].format("Arthur")) == question


@pytest.mark.parametrize(
    "sentence",
    [
        "Arthur is a film written by Christopher Kern.",
        "Arthur is a film written by Kern Brothers.",
        "Arthur was born in New Kern.",
        "Arthur was founded by the Society of Kern.",
        "Arthur is a game developed by Velbeck for the Kern.",
    ],
)
def test_a_part_of_a_name_is_no_answer(sentence: str) -> None:
    assert relation(sentence.replace("Kern", GAP), "other", "other") is None


def test_a_question_is_put_in_several_ways() -> None:
    docs = [
        Doc("1", "Ida Kern", "Ida Kern (born 3 May 1950 in Oakmere) is a painter."),
        Doc("2", "Arthur", "Arthur was directed by Ida Kern."),
    ]
    library = ClozeLibrary(docs, ["Oakmere", "Ida Kern"], StaticSearcher({}), natural=True)
    asked = {library.ask((library.facts(docs[0])[0],), random.Random(seed)) for seed in range(40)}
    assert {"Where was Ida Kern born?", "In what city was Ida Kern born?", "What is Ida Kern's birthplace?"} < asked
    chains = {library.puzzle(2, random.Random(seed)).question for seed in range(40)}
    assert {"Where was the director of Arthur born?", "In what city was the person who directed Arthur born?"} < chains


@pytest.mark.parametrize(
    ("title", "text", "answer"),
    [
        ("Ida Kern", "Ida Kern (born 1950) came late. Her father was a painter.", "painter"),
        ("Arthur", "Arthur is a film. Its sequel was directed by Tova Navan.", "Tova Navan"),
        ("Arthur", "Arthur is a film based on the novel by Tova Navan.", "Tova Navan"),
        ("Arthur", "Arthur is an album by Canadian singer Tova Navan.", "Canadian"),
        ("Arthur", "Arthur is an album by Oakmere rock band The Sad.", "Oakmere"),
        ("Philip of Spain", "Philip of Spain (1527–1598) was a king. Spain was founded in Oakmere.", "Oakmere"),
        ("", "The film was directed by Tova Navan.", "Tova Navan"),
    ],
)
def test_what_is_said_of_something_else_is_not_asked_for(title: str, text: str, answer: str) -> None:
    plain = Doc("2", "Trust", "Trust was founded in 1843.")
    doc = Doc("1", title, text)
    library = ClozeLibrary([doc, plain], [answer, "1843"], StaticSearcher({}), natural=True)
    assert library.facts(plain)
    assert not library.facts(doc)


def test_long_phrases_own_nothing() -> None:
    """Not "the person who directed Arthur's nationality"."""
    docs = [
        Doc("1", "Ida Kern", "Ida Kern (born 3 May 1950 in Oakmere) is a Danish painter."),
        Doc("2", "Arthur", "Arthur was directed by Ida Kern."),
    ]
    library = ClozeLibrary(docs, ["Oakmere", "Ida Kern", "Danish", "painter"], StaticSearcher({}), natural=True)
    chains = [library.puzzle(2, random.Random(seed)) for seed in range(80)]
    assert {puzzle.answer for puzzle in chains if puzzle.hops == 2} == {"Oakmere", "Danish", "painter"}
    assert not any("'s" in puzzle.question for puzzle in chains if puzzle.hops == 2)


def test_what_is_said_is_not_asked_as_unsaid() -> None:
    docs = [
        Doc("1", "Ida Kern", "Ida Kern (born 1950) is a painter."),
        Doc("2", "Mira Navan", "Mira Navan (born 1951) is a painter."),
        Doc("3", "Trust", "Trust was directed by Ida Kern."),
    ]
    library = ClozeLibrary(docs, ["painter", "Ida Kern", "1950"], StaticSearcher({}), natural=True)
    asked = {library.unsaid(docs[0], random.Random(seed)).question for seed in range(40)}
    assert asked
    assert not any("occupation" in one or "profession" in one or "When" in one for one in asked)


def test_what_hardly_anything_else_is_asked_for_was_misread() -> None:
    """In a large corpus, that is; in a small one everything is kept."""
    docs = [Doc(f"{n}", f"Town{n}", f"Town{n} was founded in 1843.") for n in range(10_001)]
    odd = Doc("odd", "Arthur", "Arthur was credited as 1843.")
    assert not ClozeLibrary([*docs, odd], ["1843"], StaticSearcher({}), natural=True).facts(odd)
    assert ClozeLibrary([*docs[:100], odd], ["1843"], StaticSearcher({}), natural=True).facts(odd)


def test_a_first_sentence_is_about_the_title_however_it_is_spelled_out() -> None:
    said = "William Ferguson Slemons( March 15, 1830 – 1918) was a Representative."
    assert statement(said, "William F. Slemons", first=True).startswith("William F. Slemons( March 15")
    assert statement("Thelma is a town.", "Thelma, Kentucky", first=False) == "Thelma, Kentucky is a town."
    assert statement("Nobody knew him.", "Arthur", first=False) == "Arthur: Nobody knew him."


@pytest.fixture(scope="module")
def library() -> ClozeLibrary:
    return ClozeLibrary(DOCS, ANSWERS, StaticSearcher({}), natural=True)


def test_a_corpus_is_asked_about_in_plain_words(library: ClozeLibrary) -> None:
    facts = [fact for doc in DOCS for fact in library.facts(doc)]
    asked = {fact.asked.questions[0].format(fact.doc.title): fact.objects[0] for fact in facts if fact.asked}
    assert asked == {
        "Who directed Arthur (film)?": "Ida Kern",
        "Who stars in Arthur (film)?": "Mira Dolven",
        "When was Ida Kern born?": "1 May 1950",
        "What nationality is Ida Kern?": "Danish",
        "What is Ida Kern's occupation?": "painter",
        "Where was Ida Kern born?": "Oakmere",
        "When was Mira Dolven born?": "3 May 1901",
        "When did Mira Dolven die?": "9 June 1980",
        "Who is the father of Mira Dolven?": "Tova Navan",
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
