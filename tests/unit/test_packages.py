"""Files from a package index: only with the right hash, whole or absent; and the question sets that come that way."""

import gzip
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import orjson
import pytest

from ssp.errors import DataError
from ssp.evaluate.multihop import CORPUS, SOURCE, find_corpus, unpack
from ssp.evaluate.sets import read_set
from ssp.packages import PackageFile, download, get

CONTENT = b"the content of a release"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[str]:
    """An index as the simple repository API has it, with one file."""
    (tmp_path / "simple" / "thing").mkdir(parents=True)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "thing-1.0.tar.gz").write_bytes(CONTENT)
    page = '<a href="../../files/thing-1.0.tar.gz#sha256=0" data-x="1">thing-1.0.tar.gz</a>'
    (tmp_path / "simple" / "thing" / "index.html").write_text(page)
    handler = partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        return None


def test_a_file_is_found_on_the_index_and_checked(index: str, tmp_path: Path) -> None:
    wanted = PackageFile("thing", "thing-1.0.tar.gz", hashlib.sha256(CONTENT).hexdigest())
    seen: list[int] = []
    download(wanted, tmp_path / "out", index, seen.append)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert sum(seen) == len(CONTENT)


def test_another_hash_leaves_nothing_behind(index: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match="not the file we know"):
        download(PackageFile("thing", "thing-1.0.tar.gz", "0" * 64), tmp_path / "out", index)
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_not_there_is_said_in_one_line(index: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no thing-2.0.tar.gz; name another index"):
        download(PackageFile("thing", "thing-2.0.tar.gz", "0"), tmp_path / "out", index)
    with pytest.raises(DataError, match=r"can't get x from .*404.*--index URL"):
        download(PackageFile("absent", "x", "0"), tmp_path / "out", index)
    with pytest.raises(DataError, match=r"can't get http://127\.0\.0\.1:1/x"):
        get("http://127.0.0.1:1/x", tmp_path / "out")
    assert not list(tmp_path.glob("out*"))


def archive(path: Path) -> Path:
    """The published archive in small: its folders, names and row forms, with two questions each."""
    context = {"Oakmere": ["Oakmere is a town.", " Its mayor is Mira."], "Mira": ["Mira is from Dunford."]}
    facts = [["Oakmere", 1], ["Mira", 0]]
    hotpot = {"_id": "h1", "question": "Whence?", "answer": "Dunford", "supporting_facts": facts}
    two = {"_id": "w1", "question": "Who?", "answer": "Mira", "supporting_facts": [["Oakmere", 1]], "type": "simple"}
    paragraphs = [
        {"title": "Oakmere", "paragraph_text": "A town.", "is_supporting": True},
        {"title": "Elwick", "paragraph_text": "Another.", "is_supporting": False},
    ]
    musique = {
        "id": "2hop__1_2", "question": "What?", "answer": "town", "answer_aliases": ["a town"],
        "paragraphs": paragraphs, "question_decomposition": [{}, {}],
    }  # fmt: skip
    files = {
        "hotpotqa.json": [hotpot | {"context": list(context.items())}] * 2,
        "hotpotqa_corpus.json": context,
        "2wikimultihopqa.json": [two | {"context": list(context.items())}],
        "2wikimultihopqa_corpus.json": [{"title": title, "text": " ".join(parts)} for title, parts in context.items()],
        "musique.json": [musique, musique | {"id": "2hop__9_9"}],
        "musique_corpus.json": [{"title": one["title"], "text": one["paragraph_text"]} for one in paragraphs],
    }
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            data = orjson.dumps(content)
            member = tarfile.TarInfo(f"vector_graph_rag-0.4.0/evaluation/data/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def test_sets_and_their_corpus_are_made_of_the_archive(tmp_path: Path) -> None:
    counts = unpack(archive(tmp_path / "a.tar.gz"), tmp_path / "data")
    assert counts == {"hotpotqa": 1, "musique": 1, "2wiki": 1, CORPUS: 5}, "repeated ids and questions count once"
    rows = gzip.decompress((tmp_path / "data" / CORPUS).read_bytes()).splitlines()
    passages = {row["id"]: row["text"] for row in map(orjson.loads, rows)}
    [hotpot] = (tmp_path / "data" / "hotpotqa.jsonl").read_bytes().splitlines()
    texts = [passages[one] for one in orjson.loads(hotpot)["supporting_ids"]]
    assert texts == ["Oakmere is a town. Its mayor is Mira.", "Mira is from Dunford."]
    [question] = read_set(tmp_path / "data" / "musique.jsonl")
    assert (question.answers, question.hops) == (("town", "a town"), 2)


def test_the_corpus_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is not pulled again; a folder of the user's own that has this name comes first."""
    monkeypatch.chdir(tmp_path)
    unpack(archive(tmp_path / "a.tar.gz"), tmp_path / "data")
    asked: list[str] = []
    found = find_corpus("wiki-multihop", tmp_path / "data", lambda stage, count: asked.append(stage))
    assert (found, asked) == (tmp_path / "data" / CORPUS, [])
    assert find_corpus("notes", tmp_path / "data", lambda *_: None) == Path("notes")
    (tmp_path / "wiki-multihop").mkdir()
    assert find_corpus("wiki-multihop", tmp_path / "data", lambda *_: None) == Path("wiki-multihop")


@pytest.mark.slow
def test_the_real_archive_is_the_real_data(data: Path, tmp_path: Path) -> None:
    """Side by side with the same samples, prepared by somebody else."""
    try:
        download(SOURCE, tmp_path / SOURCE.file)
    except DataError as error:
        pytest.skip(f"the package index can't be had: {error}")
    unpack(tmp_path / SOURCE.file, tmp_path)
    with gzip.open(tmp_path / CORPUS) as file:
        ours = {row["id"]: (row["title"], row["text"]) for row in map(orjson.loads, file)}
    with gzip.open(data / "corpus" / "wiki_small.jsonl.gz") as file:
        theirs = {row["id"]: " ".join(row["text"].split()) for row in map(orjson.loads, file)}
    for name in ("hotpotqa", "musique", "2wiki"):
        mine = {row["id"]: row for row in map(orjson.loads, (tmp_path / f"{name}.jsonl").read_bytes().splitlines())}
        known = {row["id"]: row for row in map(orjson.loads, (data / "qa" / f"{name}.jsonl").read_bytes().splitlines())}
        assert set(mine) == set(known), name
        same = 0
        for one, row in mine.items():
            assert row["question"].split() == known[one]["question"].split()
            assert set(row["answers"]) == set(known[one]["answers"])
            texts = {" ".join(ours[passage][1].split()) for passage in row["supporting_ids"]}
            same += texts == {theirs[passage] for passage in known[one]["supporting_ids"]}
        assert same / len(mine) > 0.95, "the others left out passages that are nearly the same"
