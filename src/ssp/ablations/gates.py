"""How right each gate is, by the oracle: the questions of a run before every gate alone, and before all together."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ssp.config import VerifyConfig
from ssp.game.reader import AgentReader
from ssp.game.step import noise_of
from ssp.game.verify import Verifier
from ssp.records import decode
from ssp.rng import derive, python_random
from ssp.runs.directory import EPISODES
from ssp.runs.players import open_player
from ssp.types import Episode, Outcome
from ssp.worlds.oracle import Oracle, Truth

NOISE = (0, 1, 4, 7)
_ALONE = VerifyConfig(rag=False)
GATES: Mapping[str, VerifyConfig] = {
    "none": _ALONE,
    **{f"rag, {n} noise documents": VerifyConfig(noise_docs=n) for n in NOISE},
    "deep": _ALONE.model_copy(update={"deep": True}),
    "closed-book": _ALONE.model_copy(update={"closed_book": True}),
    "unique": _ALONE.model_copy(update={"unique": 1, "unique_temperature": 0.0}),
    "necessary": _ALONE.model_copy(update={"necessary": True}),
    "rag 4, deep, unique": VerifyConfig(deep=True, unique=1, unique_temperature=0.0),
}


@dataclass(frozen=True, slots=True)
class GateScore:
    """Of so many questions, of which so many are true: what a gate let pass."""

    gate: str
    questions: int
    true: int
    accepted: int
    accepted_true: int

    @property
    def precision(self) -> float:
        """Of what it lets pass, what is true."""
        return self.accepted_true / self.accepted if self.accepted else 0.0

    @property
    def recall(self) -> float:
        """Of what is true, what it lets pass."""
        return self.accepted_true / self.true if self.true else 0.0


async def score_gates(run: Path, most: int = 400) -> list[GateScore]:
    """Over questions from all steps of a finished run that passed the gates which take no reader."""
    player = open_player(str(run))
    oracle = Oracle.load(run / "world")
    episodes = _some(run, most)
    truth = [_is_true(oracle, episode) for episode in episodes]
    reader = AgentReader(player.start)
    try:
        return [
            _score(
                gate,
                truth,
                await asyncio.gather(*(_passes(Verifier(reader, rules), one, episodes) for one in episodes)),
            )
            for gate, rules in GATES.items()
        ]
    finally:
        await player.agent.searcher.close()
        await player.agent.engine.close()


async def _passes(verifier: Verifier, episode: Episode, others: Sequence[Episode]) -> bool:
    assert episode.proposal is not None
    key = derive(0, episode.id)
    neighbours = [one.proposal for one in others if one.seed.id != episode.seed.id and one.proposal is not None]
    python_random(key, "neighbours").shuffle(neighbours)  # more noise is the less, and some besides
    noise = noise_of(episode.proposal, neighbours[: verifier.config.noise_docs], key)
    _, verdict = await verifier.verify(episode.proposal, episode.seed, noise, key)
    return verdict.outcome is Outcome.PASSED


def _some(run: Path, most: int) -> list[Episode]:
    """Episodes with a question, evenly over the run."""
    with (run / EPISODES).open("rb") as file:
        lines = [line for line in file if b'"pooled":false' in line and b'"problem":null' not in line]
    step = max(1.0, len(lines) / most)
    chosen = [lines[int(number * step)] for number in range(min(most, len(lines)))]
    return [one for line in chosen if (one := decode(Episode, line)).problem is not None]


def _is_true(oracle: Oracle, episode: Episode) -> bool:
    problem = episode.problem
    return problem is not None and oracle.judge(problem.question, problem.answer) is Truth.TRUE


def _score(gate: str, truth: Sequence[bool], passed: Sequence[bool]) -> GateScore:
    both = sum(true and accepted for true, accepted in zip(truth, passed, strict=True))
    return GateScore(gate, len(truth), sum(truth), sum(passed), both)


def gate_lines(scores: Sequence[GateScore]) -> list[str]:
    """As Markdown."""
    first = scores[0]
    head = [
        "",
        f"Every gate alone, on {first.questions} questions of such a run that passed the gates without a reader; "
        f"{first.true} of them are true by the oracle. Precision: true among those that pass. Recall: passed among "
        "those that are true.",
        "",
        "| gate | passed | precision | recall |",
        "| --- | --- | --- | --- |",
    ]
    rows = [f"| {one.gate} | {one.accepted} | {one.precision:.0%} | {one.recall:.0%} |" for one in scores]
    return [*head, *rows]
