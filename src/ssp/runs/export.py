"""The verified problems of a run as rows for others: with their evidence, verdict and solve rate, or in verl's form."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson

from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.config import Config
from ssp.errors import ConfigError, DataError
from ssp.files import new_file
from ssp.records import decode
from ssp.runs.directory import EPISODES
from ssp.runs.players import read_run_config
from ssp.types import Episode, Outcome, Role

Form = Literal["plain", "verl"]
Row = dict[str, Any]
_SUFFIXES = (".jsonl", ".parquet")


def export_problems(run: Path, out: Path, form: Form = "plain") -> int:
    """Write every question that was verified in a run, in the order of its steps; gives how many."""
    check_suffix(out)
    if not (run / EPISODES).exists():
        raise DataError(f"{run} has no episodes to export; train it with: ssp train --resume --out {run}")
    config = read_run_config(run)
    rows = [row_of(episode, form, config) for episode in verified(run)]
    if not rows:
        raise DataError(f"no question of {run} was verified: there is nothing to export")
    write_rows(rows, out)
    return len(rows)


def check_suffix(out: Path) -> None:
    if out.suffix not in _SUFFIXES:
        raise ConfigError(f"{out}: problems are exported to a file that ends in {' or '.join(_SUFFIXES)}")
    if out.exists():
        raise DataError(f"{out} exists already; name another file, or remove it")


def verified(run: Path) -> Iterator[Episode]:
    """The games of new questions that passed, read one at a time."""
    with (run / EPISODES).open("rb") as file:
        for line in file:
            if b'"pooled":false' in line:
                episode = decode(Episode, line, str(run / EPISODES))
                if episode.valid:
                    yield episode


def row_of(episode: Episode, form: Form, config: Config) -> Row:
    return _verl_row(episode, config) if form == "verl" else _plain_row(episode)


def _plain_row(episode: Episode) -> Row:
    """What `ssp eval --on FILE` reads, and what else is known about the problem."""
    problem, verdict = episode.problem, episode.verdict
    assert problem is not None
    assert verdict is not None
    judged = [one.correct for one in episode.attempts if one.correct is not None]
    return {
        "id": problem.id,
        "question": problem.question,
        "answers": [problem.answer, *problem.aliases],
        "hops": problem.hops,
        "evidence": [{"id": doc.id, "title": doc.title, "text": doc.text} for doc in problem.evidence],
        "passed": [check.gate for check in verdict.checks if check.outcome is Outcome.PASSED],
        "solve_rate": sum(judged) / len(judged) if judged else None,
        "attempts": len(judged),
        "step": episode.step,
        "policy_version": episode.proposal.policy_version if episode.proposal else None,
    }


def _verl_row(episode: Episode, config: Config) -> Row:
    """As verl's trainers take it: the solver's prompt, and what is right."""
    plain = _plain_row(episode)
    fields = {"question": plain["question"], "searches": config.agent.searches}
    pieces = prompt_set(config.agent.prompts).pieces(Role.SOLVER, PROTOCOLS[config.agent.protocol], fields)
    return {
        "data_source": "ssp",
        "prompt": [{"role": "user", "content": "".join(piece.text for piece in pieces)}],
        "ability": "search",
        "reward_model": {"style": "rule", "ground_truth": {"target": plain["answers"]}},
        "extra_info": {key: value for key, value in plain.items() if key not in ("answers", "passed")},
    }


def write_rows(rows: Sequence[Row], out: Path) -> None:
    """By the file's ending; whole, or not at all."""
    with new_file(out) as scratch:
        if out.suffix == ".parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.Table.from_pylist(list(rows)), scratch)
        else:
            scratch.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
