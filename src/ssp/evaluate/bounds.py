"""How far search alone can carry an agent: the share of questions whose passages can be found at all.

Once with the question itself as the only query, and once with gold queries besides: the steps of the question where a
set tells them, with the answers of earlier steps filled in, else the titles of the passages that are needed. The first
is what one search gives, the second about what the best of searchers could find.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssp.errors import DataError
from ssp.evaluate.sets import rows_of
from ssp.protocols import LocalSearcher

_STEP = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Bound:
    """Of so many questions, for how many all that is needed is among the first k."""

    k: int
    questions: int
    by_question: int
    by_gold: int


def bounds(
    file: Path,
    searcher: LocalSearcher,
    titles: Mapping[str, str],
    ks: Sequence[int],
    progress: Callable[[str, int], None] = lambda what, count: None,
) -> list[Bound]:
    """Over the questions of a file that name their passages; `titles` are those of all documents, by id."""
    rows = [row for row in rows_of(file) if row.get("supporting_ids")]
    if not rows:
        raise DataError(f"{file} does not say which passages its questions need (no supporting_ids)")
    missing = next((one for row in rows for one in row["supporting_ids"] if one not in titles), None)
    if missing is not None:
        raise DataError(f"{file}: passage {missing} is not in this corpus; name the corpus that belongs to the set")
    found = {k: [0, 0] for k in ks}
    for row in rows:
        needed = set(row["supporting_ids"])
        for place, queries in enumerate(([row["question"]], [row["question"], *gold_queries(row, titles)])):
            hits = searcher.search_now(queries, max(ks))
            for k in ks:
                found[k][place] += needed <= {hit.doc.id for some in hits for hit in some[:k]}
        progress("questions", 1)
    return [Bound(k, len(rows), *found[k]) for k in ks]


def gold_queries(row: Mapping[str, Any], titles: Mapping[str, str]) -> list[str]:
    """What somebody would search for who knew the way.

    >>> steps = [{"question": "Who is the mayor of Oakmere?", "answer": "Mira"}, {"question": "Where was #1 born?"}]
    >>> gold_queries({"decomposition": steps, "supporting_ids": []}, {})
    ['Who is the mayor of Oakmere?', 'Where was Mira born?']
    """
    steps = row.get("decomposition")
    if not steps:
        return [titles[one] for one in row["supporting_ids"]]
    answers = [str(step.get("answer", "")) for step in steps]
    return [_STEP.sub(lambda mark: _answer(answers, int(mark[1])), step["question"]) for step in steps]


def _answer(answers: Sequence[str], number: int) -> str:
    return answers[number - 1] if 0 < number <= len(answers) else ""
