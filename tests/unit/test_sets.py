"""Question sets: the files of their authors, ours, and what is wrong with them."""

import gzip
import json
import random
from pathlib import Path

import pytest

from ssp.cli.corpora import index_of
from ssp.config import EvalConfig
from ssp.errors import DataError
from ssp.evaluate.questions import Question
from ssp.evaluate.sets import SETS, find_set, fingerprint, named_sets, pinned, read_set

AS_PUBLISHED = [  # a file's name, its text, the question in it
    (
        "hotpot_dev_distractor_v1.json",
        json.dumps([{"_id": "5a8b", "question": "Who?", "answer": "She", "supporting_facts": [["X", 0]]}]),
        Question("5a8b", "Who?", ("She",)),
    ),
    (
        "musique_ans_v1.0_dev.jsonl",
        json.dumps(
            {
                "id": "2hop__1",
                "question": "Who?",
                "answer": "She",
                "answer_aliases": ["Her"],
                "question_decomposition": [{}, {}],
            }
        ),
        Question("2hop__1", "Who?", ("She", "Her"), 2),
    ),
    (
        "NQ-open.dev.jsonl",
        json.dumps({"question": "when?", "answer": ["1 May", "May 1"]}),
        Question("NQ-open.dev.jsonl:1", "when?", ("1 May", "May 1")),
    ),
    (
        "unfiltered-web-dev.json",
        json.dumps(
            {
                "Data": [
                    {"QuestionId": "tc_1", "Question": "Who?", "Answer": {"Value": "She", "Aliases": ["Her", "She"]}}
                ]
            }
        ),
        Question("tc_1", "Who?", ("She", "Her")),
    ),
    (
        "test.tsv",
        'id\tquestion\tpossible_answers\n7\tWho?\t"[""She"", ""Her""]"\n',
        Question("7", "Who?", ("She", "Her")),
    ),
    (
        "Bamboogle Prerelease - Sheet1.csv",
        "Question,Answer\nWho?,She\n",
        Question("Bamboogle Prerelease - Sheet1.csv:1", "Who?", ("She",)),
    ),
    (
        "simple_qa_test_set.csv",
        'metadata,problem,answer\n"{}",Who?,She\n',
        Question("simple_qa_test_set.csv:1", "Who?", ("She",)),
    ),
    ("own.jsonl", '{"id": "1", "question": "谁？", "answers": ["她"], "hops": 3}\n', Question("1", "谁？", ("她",), 3)),
]


@pytest.mark.parametrize(("name", "text", "expected"), AS_PUBLISHED, ids=[case[0] for case in AS_PUBLISHED])
def test_files_as_their_authors_publish_them(tmp_path: Path, name: str, text: str, expected: Question) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8-sig" if name.endswith("csv") else "utf-8")
    assert read_set(tmp_path / name) == [expected]


def test_a_set_is_found_by_name_wherever_it_may_lie(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"HotpotQA is not in .*: put hotpotqa.jsonl .* or say --data DIR"):
        find_set("hotpotqa", tmp_path)
    (tmp_path / "qa").mkdir()
    packed = tmp_path / "qa" / "hotpotqa.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"id": "1", "question": "Who?", "answers": ["She"]}\n'))
    assert read_set(find_set("hotpotqa", tmp_path)) == [Question("1", "Who?", ("She",))]
    assert find_set(str(packed), tmp_path / "elsewhere") == packed
    with pytest.raises(DataError, match="no question set 'hotpot'"):
        find_set("hotpot", tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "there are no questions"),
        ("{", "not what its name says"),
        ('{"id": "1", "answers": ["x"]}', "row 1 is not a question: it has none of question"),
        ('{"id": "1", "question": "Who?", "answers": [" "]}', "row 1 is not a question: it has no answer"),
        ('{"id": "1", "question": 5, "answers": ["x"]}', "it has no question"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(DataError, match=complaint):
        read_set(tmp_path / "bad.jsonl")


def test_a_few_are_the_same_few_everywhere() -> None:
    questions = [Question(str(n), f"Question {n}?", ("x",)) for n in range(100)]
    few = pinned(questions, 10)
    shuffled = random.Random(0).sample(questions, 100)
    assert pinned(shuffled, 10) == few
    assert few[:5] == pinned(questions, 5), "fewer are among the more"
    assert pinned(questions, None) == pinned(questions, 1000) == questions
    assert fingerprint(questions) == fingerprint(shuffled) != fingerprint(few)
    assert pinned(shuffled, 5, skip=5) == few[5:], "those that were looked at can be left out"
    assert set(pinned(questions, None, skip=10)) == set(questions) - set(few)
    with pytest.raises(DataError, match="leaves none"):
        pinned(questions, 5, skip=100)


def test_real_sets_have_the_sizes_that_they_should(data: Path) -> None:
    sizes = {"hotpotqa": 944, "musique": 999, "2wiki": 1000, "popqa": 700, "squad": 2906, "bamboogle": 125}
    sizes |= {"nq": 3610, "simpleqa": 4326, "frames": 824}
    assert {name: len(read_set(find_set(name, data))) for name in sizes} == sizes
    assert set(sizes) == set(SETS) - {"triviaqa"}


def test_a_folder_is_indexed_once_and_again_when_a_file_in_it_changed(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Oakmere\n\nA town.")
    first = index_of(notes, tmp_path / "cache")
    assert index_of(notes, tmp_path / "cache") == first
    assert index_of(first, tmp_path / "cache") == first, "an index is taken as it is"
    (notes / "a.md").write_text("# Oakmere\n\nA town on the Velbeck.")
    assert index_of(notes, tmp_path / "cache") != first
    with pytest.raises(DataError, match="no index and no corpus"):
        index_of(tmp_path / "absent")


def test_sets_of_a_run_have_their_names_and_the_same_few_questions(tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": f"Who is {n}?", "answers": ["She"]} for n in range(9)]
    for name in ("hotpotqa.jsonl", "own.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = EvalConfig(sets=("hotpotqa", str(tmp_path / "own.jsonl")), data=str(tmp_path), questions=4)
    sets = named_sets(config.model_copy(update={"questions_between": 2}))
    assert list(sets) == ["hotpotqa", "own"]
    assert sets["hotpotqa"] == pinned(read_set(tmp_path / "hotpotqa.jsonl"), 4)
