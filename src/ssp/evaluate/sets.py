"""Named sets of questions: where they officially come from, which files hold them, and how their rows are read.

A set is looked for in a data folder, as our own JSONL or as the file that its authors publish. Rows differ in names
only: what is asked, what is right, and how many hops it takes, if that is told.
"""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ssp.config import EvalConfig
from ssp.errors import DataError
from ssp.evaluate.questions import Question

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A public question set. `files` are the names under which its authors publish it."""

    name: str
    title: str
    source: str
    files: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """Where in a data folder it is looked for, in this order."""
        own = (f"{self.name}.jsonl", f"{self.name}.jsonl.gz")
        return tuple(f"{folder}{file}" for file in (*own, *self.files) for folder in ("", "qa/"))


_GITHUB, _HUB = "https://github.com/", "https://huggingface.co/datasets/"
SETS: Mapping[str, NamedSet] = {
    one.name: one
    for one in (
        NamedSet("nq", "NQ-open", f"{_GITHUB}google-research-datasets/natural-questions", ("NQ-open.dev.jsonl",)),
        NamedSet(
            "triviaqa",
            "TriviaQA (unfiltered)",
            "https://nlp.cs.washington.edu/triviaqa/",
            ("unfiltered-web-dev.json", "wikipedia-dev.json"),
        ),
        NamedSet("popqa", "PopQA", f"{_HUB}akariasai/PopQA", ("test.tsv",)),
        NamedSet(
            "hotpotqa",
            "HotpotQA",
            "https://hotpotqa.github.io/",
            ("hotpot_dev_distractor_v1.json", "hotpot_dev_fullwiki_v1.json"),
        ),
        NamedSet("2wiki", "2WikiMultihopQA", f"{_GITHUB}Alab-NII/2wikimultihop", ("dev.json",)),
        NamedSet(
            "musique",
            "MuSiQue (answerable)",
            f"{_GITHUB}StonyBrookNLP/musique",
            ("musique_ans_v1.0_dev.jsonl",),
        ),
        NamedSet("bamboogle", "Bamboogle", f"{_GITHUB}ofirpress/self-ask", ("Bamboogle Prerelease - Sheet1.csv",)),
        NamedSet("simpleqa", "SimpleQA", f"{_GITHUB}openai/simple-evals", ("simple_qa_test_set.csv",)),
        NamedSet("frames", "FRAMES", f"{_HUB}google/frames-benchmark", ("test.tsv",)),
        NamedSet("squad", "SQuAD 1.1", "https://rajpurkar.github.io/SQuAD-explorer/", ()),
    )
}

_FLASHRAG = f"{_HUB}RUC-NLPIR/FlashRAG_datasets/resolve/main/"  # where the field's search agents take them from
HUB_FILES: Mapping[str, str] = {
    "nq": f"{_FLASHRAG}nq/test.jsonl",
    "triviaqa": f"{_FLASHRAG}triviaqa/test.jsonl",
    "popqa": f"{_FLASHRAG}popqa/test.jsonl",
    "hotpotqa": f"{_FLASHRAG}hotpotqa/dev.jsonl",
    "2wiki": f"{_FLASHRAG}2wikimultihopqa/dev.jsonl",
    "musique": f"{_FLASHRAG}musique/dev.jsonl",
    "bamboogle": f"{_FLASHRAG}bamboogle/test.jsonl",
}
DATA = Path("~/.local/share/ssp/data")


def find_set(name: str, data: Path) -> Path:
    """The file of a named set in a data folder, or a file that is named itself."""
    if name in SETS:
        for place in SETS[name].places:
            if (data / place).is_file():
                return data / place
        one = SETS[name]
        wanted = " or ".join(dict.fromkeys(Path(place).name for place in one.places))
        raise DataError(f"{one.title} is not in {data}: put {wanted} there (from {one.source}), or say --data DIR")
    path = Path(name).expanduser()
    if path.suffix and path.is_file():
        return path
    raise DataError(f"no question set {name!r}: there are world, world-1 … world-4, {', '.join(SETS)}, or name a file")


def read_set(path: Path) -> list[Question]:
    """All questions of a file: JSON lines, JSON, TSV or CSV, plain or gzip. Ids that repeat are kept once."""
    questions: dict[str, Question] = {}
    for number, row in enumerate(rows_of(path), 1):
        try:
            question = question_of(row, f"{path.name}:{number}")
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}, row {number} is not a question: {error}") from None
        questions.setdefault(question.id, question)
    if not questions:
        raise DataError(f"there are no questions in {path}")
    return list(questions.values())


def question_of(row: Row, otherwise: str) -> Question:
    """A question from a row of any of the sets.

    >>> question_of({"problem": "Who?", "answer": "She"}, "x:1")
    Question(id='x:1', question='Who?', answers=('She',), hops=1)
    """
    text = _first(row, "question", "Question", "problem", "Prompt")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it has no question")
    answers = tuple(dict.fromkeys(one for one in _answers(row) if one.strip()))
    if not answers:
        raise ValueError("it has no answer")
    hops = row.get("hops") or len(row.get("question_decomposition") or ()) or 1
    return Question(str(_first(row, "id", "_id", "QuestionId", default=otherwise)), text.strip(), answers, int(hops))


def _answers(row: Row) -> Iterator[str]:
    given = _first(row, "answers", "possible_answers", "answer", "Answer", "golden_answers")
    if isinstance(given, Mapping):  # TriviaQA
        yield str(given["Value"])
        given = given.get("Aliases", [])
    elif isinstance(given, str) and given.startswith("["):  # PopQA has lists as text
        given = json.loads(given)
    yield from [given] if isinstance(given, str) else map(str, given)
    yield from map(str, row.get("answer_aliases") or ())


def _first(row: Row, *names: str, default: Any = None) -> Any:
    found = next((row[name] for name in names if row.get(name) not in (None, "")), default)
    if found is None:
        raise ValueError(f"it has none of {', '.join(names)}")
    return found


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file as they stand."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"can't read questions from {path}: {error}") from None
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind in (".tsv", ".csv"):
        yield from csv.DictReader(io.StringIO(text), delimiter="\t" if kind == ".tsv" else ",")
        return
    try:
        if kind == ".json":
            whole = orjson.loads(text)
            yield from whole["Data"] if isinstance(whole, dict) and "Data" in whole else whole
            return
        yield from (orjson.loads(line) for line in text.splitlines() if line.strip())
    except (orjson.JSONDecodeError, TypeError) as error:
        raise DataError(f"{path} is not what its name says: {error}") from None


def pinned(questions: Sequence[Question], limit: int | None, skip: int = 0) -> list[Question]:
    """The same few of them everywhere: those whose ids have the smallest hashes, whatever the order of the file.

    The first `skip` of these are left out.
    """
    if skip == 0 and (limit is None or limit >= len(questions)):
        return list(questions)
    ordered = sorted(questions, key=lambda one: hashlib.sha256(one.id.encode()).digest())
    if skip >= len(ordered):
        raise DataError(f"there are only {len(ordered)} questions: --skip {skip} leaves none")
    return ordered[skip : None if limit is None else skip + limit]


def named_sets(config: EvalConfig) -> dict[str, list[Question]]:
    """The sets that a run is to be evaluated on: of each the same few questions everywhere."""
    data, most = Path(config.data).expanduser(), max(config.questions, config.questions_between)
    files = {name: find_set(name, data) for name in config.sets}
    return {set_name(name, file): pinned(read_set(file), most) for name, file in files.items()}


def set_name(asked_for: str, file: Path) -> str:
    """A named set is called by its name, a file by its own."""
    return asked_for if asked_for in SETS else file.name.split(".")[0]


def fingerprint(questions: Sequence[Question]) -> str:
    """Tells sets of questions apart, whatever their order."""
    rows = sorted(f"{one.id}\0{one.question}" for one in questions)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
