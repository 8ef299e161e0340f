"""Reading corpora in every form of the field, and saying what is wrong by file and line."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from ssp.errors import DataError
from ssp.search.corpus import cut_passages, read_corpus, split_contents
from ssp.types import Doc

ROWS = [{"id": "1", "title": "Oakmere", "text": "A town."}, {"id": "2", "title": "", "text": "No title."}]
DOCS = [Doc("1", "Oakmere", "A town."), Doc("2", "", "No title.")]


def lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_jsonl_plain_and_gzipped(tmp_path: Path) -> None:
    plain, packed = tmp_path / "c.jsonl", tmp_path / "c.jsonl.gz"
    plain.write_text(lines(ROWS) + "\n")
    packed.write_bytes(gzip.compress(lines(ROWS).encode()))
    assert list(read_corpus([plain])) == DOCS
    assert list(read_corpus([packed])) == DOCS
    assert len(list(read_corpus([plain, packed]))) == 4


def test_parquet_plain_and_gzipped(tmp_path: Path) -> None:
    plain, packed = tmp_path / "c.parquet", tmp_path / "c.parquet.gz"
    parquet.write_table(pa.Table.from_pylist(ROWS), plain)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_corpus([plain])) == list(read_corpus([packed])) == DOCS


def test_one_field_form_and_numeric_ids(tmp_path: Path) -> None:
    path = tmp_path / "wiki.jsonl"
    path.write_text('{"id": 7, "contents": "\\"Oakmere\\"\\nA town.\\nOn a river."}\n{"id": "8", "contents": "bare"}\n')
    assert list(read_corpus([path])) == [Doc("7", "Oakmere", "A town.\nOn a river."), Doc("8", "", "bare")]


def test_folder_of_text_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.md").write_text("# The Title\n\nFirst paragraph.\n\nSecond.")
    (tmp_path / "sub" / "a.txt").write_text("Only text.")
    (tmp_path / "ignored.pdf").write_bytes(b"%PDF")
    docs = list(read_corpus([tmp_path]))
    assert docs == [
        Doc("b.md", "The Title", "First paragraph.\n\nSecond."),
        Doc("sub/a.txt", "a", "Only text."),
    ]


def test_long_files_become_passages_with_ids(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("\n\n".join("word " * 100 for _ in range(6)))
    docs = list(read_corpus([tmp_path]))
    assert [doc.id for doc in docs] == ["long.txt#1", "long.txt#2", "long.txt#3"]
    assert all(len(doc.text) <= 1200 for doc in docs)


@given(st.text(alphabet="ab \n。", max_size=300), st.integers(1, 40))
def test_passages_lose_nothing_but_space(text: str, limit: int) -> None:
    passages = cut_passages(text, limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(passage and len(passage) <= limit for passage in passages)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"id": "1", "text": "a"}\nnonsense\n', r"bad.jsonl:2: not valid JSON"),
        ('{"id": "1", "text": "a"}\n[1, 2]\n', r"bad.jsonl:2: expected an object"),
        ('{"text": "a"}\n', r"bad.jsonl:1: no id"),
        ('{"id": true, "text": "a"}\n', r"bad.jsonl:1: no id"),
        ('{"id": "", "text": "a"}\n', r"bad.jsonl:1: no id"),
        ('{"id": "1", "body": "a"}\n', r'bad.jsonl:1: neither "contents"'),
        ('{"id": "1", "title": 5, "text": "a"}\n', r"bad.jsonl:1: the title is not text"),
    ],
)
def test_a_bad_line_is_reported_by_file_and_line(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=complaint):
        list(read_corpus([path]))


def test_other_bad_input(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no corpus at"):
        list(read_corpus([tmp_path / "absent.jsonl"]))
    with pytest.raises(DataError, match=r"no \.txt or \.md files"):
        list(read_corpus([tmp_path]))
    (tmp_path / "c.jsonl").write_text(lines(ROWS))
    with pytest.raises(DataError, match=r"name the file itself, such as .*c\.jsonl"):
        list(read_corpus([tmp_path]))
    (tmp_path / "x.csv").write_text("a,b")
    with pytest.raises(DataError, match="unknown kind of corpus"):
        list(read_corpus([tmp_path / "x.csv"]))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(lines(ROWS).encode())[:-12])
    with pytest.raises(DataError, match=r"cut\.jsonl\.gz:\d+: can't be read further"):
        list(read_corpus([tmp_path / "cut.jsonl.gz"]))
    (tmp_path / "no.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match="not a readable Parquet"):
        list(read_corpus([tmp_path / "no.parquet"]))
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match="not UTF-8"):
        list(read_corpus([tmp_path / "latin.txt"]))


def test_contents_without_quotes_or_title() -> None:
    assert split_contents("Title\ntext") == ("Title", "text")
    assert split_contents('"') == ("", '"')


def test_two_folders_may_have_files_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"# {name}\n\ntext")
    assert [doc.id for doc in read_corpus([Path("one"), Path("two")])] == ["one/README.md", "two/README.md"]
    assert [doc.id for doc in read_corpus([Path("one")])] == ["README.md"]


def test_front_matter_marks_and_rows_of_both_forms(tmp_path: Path) -> None:
    (tmp_path / "cats.md").write_text("---\ntitle: x\ntags: [pets]\n---\n# Cats\n\nThey purr.\n\n---\n\nThe end.")
    assert list(read_corpus([tmp_path])) == [Doc("cats.md", "Cats", "They purr.\n\n---\n\nThe end.")]
    rows = tmp_path / "c.jsonl"
    rows.write_bytes(b"\xef\xbb\xbf" + b'{"id": "1", "title": "t", "text": "hello", "contents": "other"}\n')
    assert list(read_corpus([rows])) == [Doc("1", "t", "hello")]


def test_hidden_folders_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "notes.txt").write_text("no")
    (tmp_path / "a.txt").write_text("yes")
    assert [doc.id for doc in read_corpus([tmp_path])] == ["a.txt"]


def test_names_that_are_not_utf8_and_files_that_can_not_be_read(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9.txt")
    odd.write_text("text")
    with pytest.raises(DataError, match="not UTF-8; rename"):
        list(read_corpus([tmp_path]))
    odd.unlink()
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    with pytest.raises(DataError, match=r"can't be read|no \.txt"):
        list(read_corpus([tmp_path]))
    with pytest.raises(DataError, match="can't be read"):
        list(read_corpus([Path("x" * 5000)]))


def test_home_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "c.jsonl").write_text(lines(ROWS))
    assert list(read_corpus([Path("~/c.jsonl")])) == DOCS
