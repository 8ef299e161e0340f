"""Seeds: mined from a corpus in English and Chinese, and read from files of several forms."""

import gzip
import time
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.config import Config, load_config
from ssp.errors import DataError
from ssp.runs.ground import _mined
from ssp.runs.seeds import is_reserved, possible_shares
from ssp.search.index import build_index
from ssp.seeds.files import read_seeds, seed_rows
from ssp.seeds.mining import Mined, as_seeds, counts_by_kind, mine
from ssp.seeds.people import is_about_a_person
from ssp.types import Doc, Seed

DOCS = [
    Doc("1", "Oakmere (town)", "Oakmere is a town on the Velbeck. Its mayor is Mira Dolven, since 3 June 1887."),
    Doc("2", "Mira Dolven", 'Mira Dolven wrote "The Silver Gate" and was born in Dunford in 1843.'),
    Doc("3", "Dunford", "Dunford has 1,200 inhabitants. It lies upstream of Oakmere."),
    Doc("4", "Velbeck", "Velbeck is 312 km long. Karsa Mills stands on its bank."),
    Doc("5", "Harrow", "Harrow was founded by Tom Lund of Karsa Mills."),
    Doc("6", "北京大学", "北京大学位于北京，成立于1898年，出版了《未名》。"),
    Doc("7", "未名湖", "未名湖在北京大学里，面积约3万平方公里。"),
]


@pytest.fixture(scope="module")
def mined() -> dict[str, Mined]:
    return {one.answer: one for one in mine(DOCS)}


def test_what_documents_mention_is_found_with_its_kind(mined: dict[str, Mined]) -> None:
    kinds = {
        "Oakmere": "title", "Mira Dolven": "title", "Dunford": "title", "Velbeck": "title", "北京大学": "title",
        "3 June 1887": "date", "1843": "date", "1898年": "date", "312 km": "number", "1,200 inhabitants": "number",
        "The Silver Gate": "work", "未名": "work", "Karsa Mills": "name", "Tom Lund of Karsa Mills": "name",
    }  # fmt: skip
    assert {answer: mined[answer].kind for answer in kinds} == kinds
    assert counts_by_kind(mined.values())["title"] == 5


def test_a_document_that_only_speaks_of_itself_is_no_answer(mined: dict[str, Mined]) -> None:
    assert "Harrow" not in mined
    assert "未名湖" not in mined


def test_what_tells_titles_apart_is_no_part_of_the_answer(mined: dict[str, Mined]) -> None:
    assert mined["Oakmere"].aliases == ("Oakmere (town)",)
    assert mined["Oakmere"].mentioned == 1, "its own article does not count"


def test_depth_follows_the_mentions_backwards(mined: dict[str, Mined]) -> None:
    """1843 ← Mira Dolven ← Oakmere ← Dunford ← Mira Dolven, where one has been before."""
    assert mined["1843"].depth == 3
    assert mined["3 June 1887"].depth == 3
    assert mined["未名"].depth == 2
    assert mined["Karsa Mills"].depth == 4, "Velbeck, Oakmere, Dunford, Mira Dolven"


def test_hops_are_drawn_from_those_that_are_possible(mined: dict[str, Mined]) -> None:
    seeds = as_seeds(mined.values(), (1.0, 1.0, 1.0, 1.0), seed=3)
    assert all(1 <= seed.hops <= mined[seed.answer].depth for seed in seeds)
    assert seeds == as_seeds(mined.values(), (1.0, 1.0, 1.0, 1.0), seed=3)
    assert len({seed.id for seed in seeds}) == len(seeds) == len(mined)
    assert all(seed.hops == 1 for seed in as_seeds(mined.values(), (1.0,)))


def test_callings_are_what_is_said_of_several_people() -> None:
    said = ["a Danish ice hockey player who", "an American film director and", "a retired painter.", "a member of"]
    docs = [
        Doc(f"{n}-{m}", f"Ida Kern{n}{m}", f"Ida Kern{n}{m} (born 19{n}0) is {what} … (born elsewhere).")
        for n in range(5)
        for m, what in enumerate(said)
    ]
    docs.append(Doc("x", "Oakmere", "Oakmere (born 1950) is a diver."))  # nobody else is one
    docs += [Doc(f"f{n}", f"Trust {n}", f"Trust {n} is a thriller.") for n in range(9)]  # no people
    callings = {one.answer for one in mine(docs) if one.kind == "calling"}
    assert callings == {"ice hockey player", "film director", "painter"}


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("John F. Kern Jr. (May 29, 1917 – 1963) was", True),
        ("J. K. Kern (b. 1965) is", True),
        ("Ida Kern (née Navan; born 1950) is", True),
        ("Trust is a film. Ida Kern (born 1950) made it.", False),
        ("Trust (1990) is a film.", False),
    ],
)
def test_people_are_told_by_what_is_behind_their_names(text: str, person: bool) -> None:
    assert is_about_a_person(text) is person


@pytest.mark.parametrize("part", ["1234-", "in 1234-1236 it ", "in 1999 a well-known ", "1", "A. ", "born "])
def test_no_text_takes_long_to_tell_whether_it_is_about_a_person(part: str) -> None:
    """Of these, an unbounded pattern takes minutes; a bounded one as long for the longer as for the shorter."""
    seconds = []
    for length in (2_000, 200_000):
        text = ("Ida Kern (" + part * length)[:length]
        began = time.process_time()
        is_about_a_person(text)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 2.0 + 20 * seconds[0]


def test_what_everybody_mentions_is_too_common() -> None:
    docs = [Doc(str(n), f"Place {n}", "It belongs to Big Country.") for n in range(300)]
    assert mine(docs) == []


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=200)), max_size=8))
def test_no_text_breaks_the_miner(texts: list[tuple[str, str]]) -> None:
    docs = [Doc(str(number), title, text) for number, (title, text) in enumerate(texts)]
    for one in mine(docs):
        assert one.answer.strip()
        assert any(one.answer in doc.text for doc in docs)
        assert 1 <= one.depth <= 4


def test_rows_of_all_forms_are_read(tmp_path: Path) -> None:
    rows = [
        {"answer": "Dunford", "aliases": ["Dunford town"], "hops": 2},
        {"ground_truth": "Steamship", "search_turns": "3", "sys_question_example": "…"},
        {"ground_truth": ["Oakmere", "Port Oakmere"], "search_turns": 1},
        {"reward_model": {"ground_truth": {"target": ["1843", "in 1843"]}}, "extra_info": {"search_turns": 2}},
        {"reward_model": {"ground_truth": {"target": "Velbeck"}}},
    ]
    file = tmp_path / "seeds.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n\n")
    seeds = read_seeds(file)
    assert [(one.answer, one.aliases, one.hops) for one in seeds] == [
        ("Dunford", ("Dunford town",), 2),
        ("Steamship", (), 3),
        ("Oakmere", ("Port Oakmere",), 1),
        ("1843", ("in 1843",), 2),
        ("Velbeck", (), 1),
    ]
    file.write_bytes(b"".join(seed_rows(seeds)))
    assert read_seeds(file) == seeds


@pytest.mark.parametrize(
    "line", ["{", "[]", '"x"', "{}", '{"answer": 5}', '{"answer": "x", "hops": "many"}', '{"answer": ""}']
)
def test_a_row_that_is_none_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "seeds.jsonl"
    file.write_text(f'{{"answer": "Dunford"}}\n{line}\n')
    with pytest.raises(DataError, match="line 2 is not a seed"):
        read_seeds(file)
    with pytest.raises(DataError, match="can't read seeds"):
        read_seeds(tmp_path / "absent.jsonl")


def test_published_seeds_and_real_passages(data: Path) -> None:
    for name in ("titles", "train_answers"):
        seeds = read_seeds(data / "seeds" / f"published_form_{name}.jsonl")
        assert len(seeds) in (1415, 6000)
        assert {seed.hops for seed in seeds} <= {1, 2, 3, 4, 5}
    with gzip.open(data / "corpus" / "wiki_small.jsonl.gz") as file:
        docs = [
            Doc(row["id"], row["title"], row["text"]) for row in map(orjson.loads, [next(file) for _ in range(3000)])
        ]
    found = mine(docs)
    assert len(found) > 3000
    assert set(counts_by_kind(found)) == {"title", "name", "date", "number", "work", "calling"}


def test_reserved_answers_are_always_the_same_and_about_as_many_as_asked_for() -> None:
    config = load_config(overrides=["corpus=notes", "eval.reserve=0.2"])
    seeds = [Seed(f"s{n}", f"Place {n}") for n in range(2000)]
    reserved = [one for one in seeds if is_reserved(one, config)]
    assert 300 < len(reserved) < 500
    assert reserved == [one for one in seeds if is_reserved(one, config)]
    assert not any(is_reserved(one, load_config()) for one in seeds), "a world has questions of its own"


def test_shares_of_hops_that_no_seed_has_are_left_out() -> None:
    seeds = [Seed("a", "x", hops=1), Seed("b", "y", hops=3)]
    assert possible_shares(seeds, (0.4, 0.4, 0.2)) == [0.4, 0.0, 0.2]
    assert possible_shares(seeds, (0.0, 1.0)) is None
    assert possible_shares(seeds, None) is None


def test_seeds_of_a_run_with_lessons_can_be_asked_for(tmp_path: Path) -> None:
    """What nobody says anything of that the lessons could ask for ("Velbeck") is left out."""
    docs = []
    for number in range(30):
        painter = f"Ida Kern{number}"
        docs.append(Doc(f"f{number}", f"Film {number}", f"Film {number} is a film directed by {painter}."))
        more = " Nobody liked Velbeck." if number < 2 else ""
        docs.append(Doc(f"p{number}", painter, f"{painter} (born 3 May 19{number + 10}) is a painter.{more}"))
    build_index(docs, tmp_path / "index")
    mined = {lessons: _mined(_with_lessons(lessons), tmp_path, lambda *_: None) for lessons in (0, 5)}
    answers = {lessons: {one.answer for one in some} for lessons, some in mined.items()}
    assert "Velbeck" in answers[0]
    names, dates = ({f"Ida Kern{n}" for n in range(30)}, {f"3 May 19{n + 10}" for n in range(30)})
    assert answers[5] == names | dates | {"painter"}


def _with_lessons(steps: int) -> Config:
    return load_config(preset="smol", overrides=[f"warmup.lessons={steps}"])
