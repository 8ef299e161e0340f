"""Evaluating an agent on sets of questions, question by question on disk, so that a stopped evaluation goes on."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

from ssp.agents.agent import SearchAgent, Task
from ssp.errors import DataError
from ssp.evaluate.questions import Question
from ssp.evaluate.statistics import bootstrap, macro_bootstrap, pass_at, wilson
from ssp.records import encode
from ssp.rng import derive
from ssp.text import exact_match, f1
from ssp.types import Role, Trajectory

SETTINGS, RESULT = "settings.json", "result.json"
_TOGETHER = 128  # trajectories between two writes to disk
Record = dict[str, Any]  # one question with its answers and scores, as it stands on disk
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often each question is answered, and how. Greedy unless it is answered several times."""

    samples: int = 1
    temperature: float = 0.0
    seed: int = 0


def open_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """A new folder for an evaluation, or one that was begun with the same settings."""
    file = folder / SETTINGS
    if file.exists():
        before = orjson.loads(file.read_bytes())
        differ = sorted(key for key in {*before, *settings} if before.get(key) != settings.get(key))
        if differ:
            raise DataError(
                f"{folder} holds an evaluation with other settings ({', '.join(differ)}); name another --out"
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder} exists already and is no evaluation; name another --out")
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2) + b"\n")


async def evaluate_set(
    agent: SearchAgent, questions: Sequence[Question], file: Path, sampling: Sampling, progress: Progress
) -> list[Record]:
    """Answer what the file does not have yet. Outages are not scores: those questions are left for another time."""
    wanted = {one.id for one in questions}
    done = {record["id"]: record for record in read_records(file) if record["id"] in wanted}
    progress(file.stem, len(done))
    missing = [one for one in questions if one.id not in done]
    size = max(1, _TOGETHER // sampling.samples)
    for begin in range(0, len(missing), size):
        block = missing[begin : begin + size]
        answered = await asyncio.gather(*(_answer(agent, one, sampling) for one in block))
        records = [
            _record(question, tries)
            for question, tries in zip(block, answered, strict=True)
            if not any(one.status.is_outage for one in tries)
        ]
        append_records(file, records)
        done |= {record["id"]: record for record in records}
        progress(file.stem, len(block))
    return [done[one.id] for one in questions if one.id in done]


async def _answer(agent: SearchAgent, question: Question, sampling: Sampling) -> list[Trajectory]:
    """As solvers do in the game: the same agent, tags and prompts."""
    names = [question.id if number == 0 else f"{question.id}/{number}" for number in range(sampling.samples)]
    tasks = [
        Task(
            name,
            Role.SOLVER,
            {"question": question.question},
            derive(sampling.seed, "eval", name),
            sampling.temperature,
        )
        for name in names
    ]
    return await asyncio.gather(*(agent.run(task) for task in tasks))


def _record(question: Question, tries: Sequence[Trajectory]) -> Record:
    return {
        "id": question.id,
        "question": question.question,
        "answers": question.answers,
        "hops": question.hops,
        "samples": [
            {
                "answer": one.final,
                "em": exact_match(one.final or "", question.answers),
                "f1": f1(one.final or "", question.answers),
                "searches": len(one.searches),
                "tokens": sum(one.mask),
                "status": one.status.value,
                "trajectory": orjson.Fragment(encode(one)),
            }
            for one in tries
        ],
    }


def append_records(file: Path, records: Sequence[Record]) -> None:
    whole = sum(len(line) for line in _whole_lines(file))
    with file.open("ab") as out:
        out.truncate(whole)  # what a crash left half written
        out.writelines(orjson.dumps(record) + b"\n" for record in records)


def read_records(file: Path) -> Iterator[Record]:
    for line in _whole_lines(file):
        yield orjson.loads(line)


def _whole_lines(file: Path) -> list[bytes]:
    """The lines that were written to their end."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return lines if not lines or lines[-1].endswith(b"\n") else lines[:-1]


def score(records: Sequence[Record], asked: int) -> dict[str, Any]:
    """What a set came to. `accuracy` is exact match, or the judge's if there is one; what it left open is left out."""
    judged = [one for record in records for one in record["samples"] if "judged" in one]
    result: dict[str, Any] = {"n": len(records)}
    if decided := [
        record for record in records if all(one.get("judged", True) is not None for one in record["samples"])
    ]:
        result |= _scores(decided)
    if judged:
        known = [one for one in judged if one["judged"] is not None]
        result["unjudged"] = len(judged) - len(known)
        if known:
            result["judge"] = fmean(one["judged"] for one in known)
            result["agreement"] = fmean(one["judged"] == one["em"] for one in known)
    return result | ({"unanswered": asked - len(records)} if asked > len(records) else {})


def _scores(records: Sequence[Record]) -> dict[str, Any]:
    tries = [one for record in records for one in record["samples"]]
    samples = len(records[0]["samples"])
    means = means_of(records)
    right = [sum(map(_is_right, record["samples"])) for record in records]
    result = {
        "em": fmean(one["em"] for one in tries),
        "f1": fmean(one["f1"] for one in tries),
        "accuracy": fmean(means),
        "ci95": list(wilson(sum(right), len(records)) if samples == 1 else bootstrap(means)),
        "searches": fmean(one["searches"] for one in tries),
        "tokens": fmean(one["tokens"] for one in tries),
        "endings": dict(Counter(one["status"] for one in tries)),
    }
    if samples > 1:
        several = fmean(pass_at(n, samples, samples) for n in right)
        result |= {f"avg@{samples}": result["accuracy"], f"pass@{samples}": several}
    return result


def _decided(records: Sequence[Record]) -> list[Record]:
    """Without those for which a judge was asked and did not decide."""
    return [record for record in records if all(one.get("judged", True) is not None for one in record["samples"])]


def _is_right(sample: Mapping[str, Any]) -> bool:
    verdict: bool = sample["judged"] if sample.get("judged") is not None else sample["em"]
    return verdict


def means_of(records: Sequence[Record]) -> list[float]:
    """The share of right answers to each question."""
    return [fmean(map(_is_right, record["samples"])) for record in records]


def macro(by_set: Mapping[str, Sequence[Record]]) -> dict[str, Any] | None:
    """The mean over sets, all alike, however many questions they have; None for less than two."""
    groups = [means_of(decided) for records in by_set.values() if (decided := _decided(records))]
    if len(groups) < 2:
        return None
    return {"sets": len(groups), "accuracy": fmean(map(fmean, groups)), "ci95": list(macro_bootstrap(groups))}
