"""What a finished run came to, and what several with different seeds came to together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ssp.evaluate.statistics import Interval, seeds_interval
from ssp.runs.directory import EVALS, METRICS, RunDirectory

_LAST = 5  # steps at the end over which rates are averaged


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run."""

    before: dict[str, float]  # accuracy by set
    after: dict[str, float]
    valid: float | None  # of the proposals of the last steps
    true: float | None  # of these, by the oracle
    seconds: float  # a step

    @property
    def gain(self) -> float:
        return fmean(self.after.values()) - fmean(self.before.values())


@dataclass(frozen=True, slots=True)
class Summary:
    """Runs of one arm."""

    outcomes: tuple[Outcome, ...]

    def mean(self, of: Callable[[Outcome], float | None]) -> float | None:
        known = [value for one in self.outcomes if (value := of(one)) is not None]
        return fmean(known) if known else None

    @property
    def accuracy(self) -> float:
        return fmean(fmean(one.after.values()) for one in self.outcomes)

    @property
    def gain(self) -> float:
        return fmean(one.gain for one in self.outcomes)

    @property
    def gain_interval(self) -> Interval | None:
        return seeds_interval([one.gain for one in self.outcomes])

    def against(self, other: "Summary") -> tuple[float, Interval | None]:
        """How much better these runs end than others with the same seeds, on average, and the interval of that."""
        pairs = zip(self.outcomes, other.outcomes, strict=True)
        differences = [fmean(one.after.values()) - fmean(two.after.values()) for one, two in pairs]
        return fmean(differences), seeds_interval(differences)

    @property
    def sets(self) -> dict[str, float]:
        return {name: fmean(one.after[name] for one in self.outcomes) for name in self.outcomes[0].after}


def outcome(run: Path) -> Outcome:
    directory = RunDirectory(run)
    evals, metrics = list(directory.lines(EVALS)), list(directory.lines(METRICS))
    first, last = ({name: one["accuracy"] for name, one in evals[n]["sets"].items()} for n in (0, -1))
    return Outcome(
        first,
        last,
        _mean([record["valid"] for record in metrics[-_LAST:] if "valid" in record]),
        _mean([record["true"] for record in metrics[-_LAST:] if "true" in record]),
        fmean(record["seconds/play"] + record["seconds/update"] + record["seconds/record"] for record in metrics),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
