"""Two evaluations, or two groups of them with different seeds, on the same questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ssp.errors import DataError
from ssp.evaluate.runner import Record, read_records
from ssp.evaluate.statistics import Comparison, Interval, compare, macro_bootstrap, seeds_interval

Sets = Mapping[str, Mapping[str, Record]]  # by set, by question


@dataclass(frozen=True, slots=True)
class SetComparison:
    """One set: pair by pair, and the difference over pairs with its interval where there are several."""

    name: str
    pairs: tuple[Comparison, ...]

    @property
    def difference(self) -> float:
        return sum(one.difference for one in self.pairs) / len(self.pairs)

    @property
    def over_seeds(self) -> Interval | None:
        return seeds_interval([one.difference for one in self.pairs])


def compare_folders(a: Sequence[Path], b: Sequence[Path]) -> list[SetComparison]:
    """Evaluations side by side: the first of A with the first of B, and so on."""
    if len(a) != len(b):
        raise DataError(f"--compare takes as many evaluations on each side; there are {len(a)} and {len(b)}")
    pairs = [(_read(left), _read(right)) for left, right in zip(a, b, strict=True)]
    shared = _shared(pairs)
    if not shared:
        raise DataError(f"{a[0]} and {b[0]} have no set of questions in common")
    return [
        SetComparison(name, tuple(_pair(left[name], right[name], name) for left, right in pairs)) for name in shared
    ]


@dataclass(frozen=True, slots=True)
class MeanComparison:
    """By how much B is ahead of A in the mean of the sets, in one measure; each set counts the same."""

    measure: str
    difference: float
    interval: Interval


def compare_means(a: Sequence[Path], b: Sequence[Path]) -> list[MeanComparison]:
    """Exact match and F1 over the sets that all have; nothing for a single set, which its own comparison tells."""
    pairs = [(_read(left), _read(right)) for left, right in zip(a, b, strict=True)]
    shared = _shared(pairs)
    if len(shared) < 2:
        return []
    found = []
    for measure in ("em", "f1"):
        groups = [_differences(left[name], right[name], measure) for left, right in pairs for name in shared]
        found.append(MeanComparison(measure.upper(), fmean(map(fmean, groups)), macro_bootstrap(groups)))
    return found


def _shared(pairs: Sequence[tuple[Sets, Sets]]) -> list[str]:
    """The sets that all evaluations have."""
    return [name for name in pairs[0][0] if all(name in left and name in right for left, right in pairs)]


def _differences(left: Mapping[str, Record], right: Mapping[str, Record], measure: str) -> list[float]:
    return [
        float(right[one]["samples"][0][measure]) - float(left[one]["samples"][0][measure])
        for one in _common(left, right)
    ]


def _common(left: Mapping[str, Record], right: Mapping[str, Record]) -> list[str]:
    return [one for one in left if one in right and left[one]["question"] == right[one]["question"]]


def _pair(left: Mapping[str, Record], right: Mapping[str, Record], name: str) -> Comparison:
    """On the questions that both have. Of several answers to a question the first counts."""
    ids = _common(left, right)
    if not ids:
        raise DataError(f"the two evaluations of {name} have no question in common")
    a, b = ([bool(side[one]["samples"][0]["em"]) for one in ids] for side in (left, right))
    return compare(a, b)


def _read(folder: Path) -> Sets:
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise DataError(f"{folder} holds no evaluation; make one with: ssp eval RUN --on SET --out {folder}")
    return {file.stem: {record["id"]: record for record in read_records(file)} for file in files}
