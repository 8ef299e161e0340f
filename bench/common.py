"""What the benchmarks share: corpora, isolated workers, tables."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ssp.worlds.world import WorldSettings
from ssp.worlds.write import write_world

OUT = Path(__file__).parent / "out"


def world(size: int) -> Path:
    """A generated world of this many passages, written once."""
    folder = OUT / f"world-{size}"
    if not folder.exists():
        write_world(WorldSettings(articles=size), folder)
    return folder


def queries(size: int, count: int) -> dict[str, list[str]]:
    """Two workloads: names, as agents search, and whole questions."""
    folder = world(size)
    lines = (folder / "corpus.jsonl").read_bytes().splitlines()
    step = max(1, len(lines) // count)
    names = [json.loads(line)["title"] for line in lines[::step][:count]]
    questions = [json.loads(line)["question"] for line in (folder / "questions.jsonl").read_bytes().splitlines()]
    return {"names": names, "questions": questions[:count]}


def in_process(module: str, *arguments: object) -> dict[str, Any]:
    """Run a worker in a process of its own, so that memory and compiled code are its own; gives its JSON answer."""
    command = [sys.executable, "-m", module, "--worker", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def save(name: str, rows: Sequence[dict[str, Any]]) -> None:
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.json").write_text(json.dumps(list(rows), indent=1) + "\n")


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a Markdown table; numbers with sensible digits."""
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
