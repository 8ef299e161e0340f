"""One agent's run, token by token."""

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from ssp.types.check import require
from ssp.types.documents import Doc, SearchCall


class Role(StrEnum):
    """Who is playing. The answerer is the single-turn reader of the RAG check."""

    PROPOSER = "proposer"
    SOLVER = "solver"
    ANSWERER = "answerer"


class SegmentKind(StrEnum):
    """Where a piece of a trajectory came from."""

    PROMPT = "prompt"
    SAMPLED = "sampled"
    OBSERVATION = "observation"


class Status(StrEnum):
    """How a trajectory ended. Every ending is counted; none is silently a wrong answer."""

    FINISHED = "finished"  # it closed its final block: an answer, or a question
    NO_FINAL = "no_final"  # it stopped by itself without a final block
    MALFORMED = "malformed"  # its action could not be read
    TURN_LIMIT = "turn_limit"
    LENGTH = "length"
    SEARCH_FAILED = "search_failed"
    ENGINE_FAILED = "engine_failed"

    @property
    def is_outage(self) -> bool:
        """The world failed, not the agent: such a trajectory is not scored and trains nobody."""
        return self in (Status.SEARCH_FAILED, Status.ENGINE_FAILED)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a trajectory. Only sampled segments carry log-probabilities: one per token, as sampled.

    >>> Segment.prompt("Who?", (5, 9)).sampled
    False
    >>> Segment.from_sample("<search>", (17,), (-0.25,)).logprobs
    (-0.25,)
    >>> Segment.from_sample("<search>", (17,), ())
    Traceback (most recent call last):
    ValueError: a sampled segment needs one log-probability per token: 1 tokens, 0 log-probabilities
    """

    kind: SegmentKind
    text: str
    token_ids: tuple[int, ...]
    sampled: bool
    logprobs: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        require(self.sampled == (self.kind is SegmentKind.SAMPLED), f"{self.kind} with sampled={self.sampled}")
        require(not self.token_ids or min(self.token_ids) >= 0, "token ids must not be negative")
        tokens, logprobs = len(self.token_ids), len(self.logprobs)
        if self.sampled:
            require(
                tokens == logprobs,
                f"a sampled segment needs one log-probability per token: {tokens} tokens, {logprobs} log-probabilities",
            )
            require(all(-1e30 < value <= 0.0 for value in self.logprobs), "log-probabilities must be finite, ≤ 0")
        else:
            require(logprobs == 0, f"a {self.kind} segment has no log-probabilities")

    @classmethod
    def prompt(cls, text: str, token_ids: tuple[int, ...]) -> "Segment":
        return cls(SegmentKind.PROMPT, text, token_ids, sampled=False)

    @classmethod
    def observation(cls, text: str, token_ids: tuple[int, ...]) -> "Segment":
        return cls(SegmentKind.OBSERVATION, text, token_ids, sampled=False)

    @classmethod
    def from_sample(cls, text: str, token_ids: tuple[int, ...], logprobs: tuple[float, ...]) -> "Segment":
        return cls(SegmentKind.SAMPLED, text, token_ids, sampled=True, logprobs=logprobs)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One agent's run. `token_ids`, `mask` and `logprobs` are derived views of equal length.

    >>> run = Trajectory(
    ...     id="t1", role=Role.SOLVER, status=Status.FINISHED, policy_version=3,
    ...     segments=(
    ...         Segment.prompt("Who?", (5, 9)),
    ...         Segment.from_sample("<answer>Mira</answer>", (17, 40, 18), (-0.1, -0.7, -0.01)),
    ...     ),
    ...     searches=(), final="Mira",
    ... )
    >>> run.token_ids, run.mask
    ((5, 9, 17, 40, 18), (False, False, True, True, True))
    >>> run.logprobs
    (0.0, 0.0, -0.1, -0.7, -0.01)
    """

    id: str
    role: Role
    segments: tuple[Segment, ...]
    searches: tuple[SearchCall, ...]
    status: Status
    policy_version: int
    final: str | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        require(self.id != "", "a Trajectory needs an id")
        require(self.policy_version >= 0, "policy versions count from 0")
        require(0.0 <= self.seconds < math.inf, f"seconds must be finite, not negative, got {self.seconds}")
        require(
            (self.final is not None) == (self.status is Status.FINISHED),
            f"trajectory {self.id} is {self.status} but its final block is {self.final!r}",
        )
        require(
            not self.segments or self.segments[0].kind is SegmentKind.PROMPT,
            f"trajectory {self.id} does not begin with its prompt",
        )

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(chain.from_iterable(segment.token_ids for segment in self.segments))

    @property
    def mask(self) -> tuple[bool, ...]:
        """True where the policy sampled the token: the only tokens that are trained on."""
        return tuple(segment.sampled for segment in self.segments for _ in segment.token_ids)

    @property
    def logprobs(self) -> tuple[float, ...]:
        """Log-probabilities recorded at sampling time; 0.0 where the mask is False."""
        return tuple(
            chain.from_iterable(
                segment.logprobs if segment.sampled else (0.0,) * len(segment.token_ids) for segment in self.segments
            )
        )

    @property
    def transcript(self) -> str:
        return "".join(segment.text for segment in self.segments)

    @property
    def evidence(self) -> tuple[Doc, ...]:
        """Documents seen, unique by id, in the order in which they were first seen."""
        seen = {hit.doc.id: hit.doc for call in reversed(self.searches) for hit in reversed(call.hits)}
        order = dict.fromkeys(hit.doc.id for call in self.searches for hit in call.hits)
        return tuple(seen[doc_id] for doc_id in order)

    @property
    def first_seen(self) -> dict[str, int]:
        """For each document of the evidence, by id, the number of the search that first found it."""
        turns: dict[str, int] = {}
        for number, call in enumerate(self.searches):
            for hit in call.hits:
                turns.setdefault(hit.doc.id, number)
        return turns
