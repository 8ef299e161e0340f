"""Several models side by side, as the field's papers have it: a row for each model, a column for each set."""

from collections.abc import Mapping, Sequence
from typing import Any

_TITLES = {
    "nq": "NQ",
    "triviaqa": "TriviaQA",
    "popqa": "PopQA",
    "hotpotqa": "HotpotQA",
    "2wiki": "2Wiki",
    "musique": "MuSiQue",
    "bamboogle": "Bamboogle",
}


def side_by_side(results: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown table of accuracies in percent with 95 % intervals; the papers' sets in their order, then others.

    >>> one = {"model": "m", "sets": {"popqa": {"n": 4, "accuracy": 0.5, "ci95": [0.15, 0.85]}}, "macro": None}
    >>> print(side_by_side([one]))
    | model | PopQA | avg |
    | --- | --- | --- |
    | m | 50.0 (15–85) | 50.0 |
    """
    there: list[str] = list(dict.fromkeys(name for result in results for name in result["sets"]))
    sets = [name for name in _TITLES if name in there] + [name for name in there if name not in _TITLES]
    heads = [_TITLES.get(name, name) for name in sets]
    lines = [["model", *heads, "avg"], ["---"] * (len(sets) + 2)]
    for result in results:
        scored = [result["sets"].get(name, {}) for name in sets]
        known = [one["accuracy"] for one in scored if "accuracy" in one]
        mean = f"{100 * sum(known) / len(known):.1f}" if len(known) == len(sets) else ""
        if mean and result.get("macro"):
            mean += _interval(result["macro"]["ci95"])
        lines.append([str(result["model"]), *map(_cell, scored), mean])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(one: Mapping[str, Any]) -> str:
    return f"{100 * one['accuracy']:.1f}{_interval(one['ci95'])}" if "accuracy" in one else ""


def _interval(ends: Sequence[float]) -> str:
    low, high = ends
    return f" ({100 * low:.0f}–{100 * high:.0f})"
