"""A benchmark of one's own documents: verified questions for answers that were kept out of training."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ssp.errors import DataError
from ssp.rng import derive, python_random
from ssp.runs.export import Row, row_of, verified
from ssp.runs.players import make_game, open_player
from ssp.runs.seeds import is_reserved, seeds_file
from ssp.seeds.files import read_seeds
from ssp.text import normalise_answer
from ssp.types import Episode

_TOGETHER = 64  # games at once


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Rows to evaluate on, and why other questions are not among them."""

    rows: list[Row]
    left_out: dict[str, int]


async def make_benchmark(run: Path, count: int) -> Benchmark:
    """Let the run's newest model propose for reserved answers; keep what is verified and was never trained on."""
    player = open_player(str(run))
    config = player.config
    reserved = [one for one in read_seeds(seeds_file(run)) if is_reserved(one, config)]
    if not reserved:
        raise DataError(f"{run} has kept no answers out of training; set eval.reserve, which is for corpora")
    trained = Contamination.of(verified(run))
    python_random(config.seed, "benchmark").shuffle(reserved)
    game = make_game(config, player.agent, player.first)
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    try:
        for begin in range(0, len(reserved), _TOGETHER):
            if len(rows) >= count:
                break
            key = derive(config.seed, "benchmark", begin)
            for episode in await game.play(reserved[begin : begin + _TOGETHER], config.steps, key):
                reason = trained.found_in(episode) if episode.valid else "not verified"
                left_out[reason] += bool(reason)
                if not reason and len(rows) < count:
                    rows.append(row_of(episode, "plain", config))
    finally:
        await game.close()
    return Benchmark(rows, {reason: number for reason, number in left_out.items() if number})


@dataclass(frozen=True, slots=True)
class Contamination:
    """What a model has been trained on: its questions and, in any words, what they asked for."""

    questions: frozenset[str]
    answers: frozenset[str]

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> "Contamination":
        problems = [episode.problem for episode in episodes if episode.problem is not None]
        return cls(
            frozenset(normalise_answer(one.question) for one in problems),
            frozenset(normalise_answer(answer) for one in problems for answer in one.accepted),
        )

    def found_in(self, episode: Episode) -> str:
        """Why this problem is no test; empty if it is one."""
        assert episode.problem is not None
        if normalise_answer(episode.problem.question) in self.questions:
            return "question was trained on"
        if any(normalise_answer(answer) in self.answers for answer in episode.problem.accepted):
            return "answer was trained on"
        return ""
