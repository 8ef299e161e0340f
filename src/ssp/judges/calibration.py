"""How far a judge can be trusted: cases with a known verdict, many of them made to mislead."""

import asyncio
import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources

from ssp.errors import JudgeError
from ssp.protocols import Judge


@dataclass(frozen=True, slots=True)
class Case:
    """A prediction, and whether it is right."""

    kind: str
    question: str
    answers: tuple[str, ...]
    prediction: str
    right: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a judge made of the cases. An unjudged case counts for neither side."""

    cases: Sequence[Case]
    verdicts: Sequence[bool | None]

    @property
    def judged(self) -> int:
        return sum(verdict is not None for verdict in self.verdicts)

    @property
    def agreed(self) -> int:
        return sum(verdict is case.right for case, verdict in self._pairs)

    @property
    def wrongly_passed(self) -> list[Case]:
        """What is worst in training: a wrong answer that is rewarded."""
        return [case for case, verdict in self._pairs if verdict and not case.right]

    @property
    def wrongly_refused(self) -> list[Case]:
        return [case for case, verdict in self._pairs if verdict is False and case.right]

    @property
    def by_kind(self) -> dict[str, tuple[int, int]]:
        """For each kind of case: how many were judged as they should be, of how many."""
        counts: dict[str, tuple[int, int]] = {}
        for case, verdict in self._pairs:
            agreed, of = counts.get(case.kind, (0, 0))
            counts[case.kind] = (agreed + (verdict is case.right), of + 1)
        return counts

    @property
    def _pairs(self) -> list[tuple[Case, bool | None]]:
        return list(zip(self.cases, self.verdicts, strict=True))


def calibration_cases() -> list[Case]:
    """Ours, English and Chinese."""
    text = resources.files("ssp.judges").joinpath("calibration.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        Case(
            row["kind"],
            row["question"],
            tuple(row["answers"].split("|")),
            row["prediction"].replace("\\n", "\n"),
            row["right"] == "yes",
        )
        for row in rows
    ]


async def calibrate(
    judge: Judge, cases: Sequence[Case], progress: Callable[[str, int], None] = lambda what, count: None
) -> Calibration:
    """Every case before the judge; outages leave it unjudged."""

    async def verdict(case: Case) -> bool | None:
        try:
            return await judge.same(case.question, case.answers, case.prediction)
        except JudgeError:
            return None
        finally:
            progress("cases", 1)

    return Calibration(cases, await asyncio.gather(*map(verdict, cases)))
