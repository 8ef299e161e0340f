"""The recorder of one agent's run: token ids as they were put in or sampled, never tokenised a second time."""

import re
from collections.abc import Iterable, Sequence
from time import perf_counter

from ssp.agents.prompts import Piece
from ssp.protocols import Codec
from ssp.types import Completion, Role, SearchCall, Segment, Status, Trajectory

_HOLE = re.compile("\ue000(\\d+)\ue001")  # private-use characters hold the place of untrusted text in a template
_CONTEXT = 16  # tokens before a stretch that can change how it decodes (a leading space, a split character)


class Tape:
    """Segments so far. `token_ids` is the next prompt for the engine."""

    def __init__(self, codec: Codec, trajectory_id: str, role: Role, prompt: Sequence[Piece]) -> None:
        self._codec = codec
        self._id = trajectory_id
        self._role = role
        self._began = perf_counter()
        self._segments: list[Segment] = []
        self._version = 0
        self.token_ids: list[int] = []
        self.searches: list[SearchCall] = []
        self.corrections = 0
        ids = encode_prompt(codec, prompt)
        self._append(Segment.prompt(self._text(ids), ids))
        self._prompt_length = len(ids)

    @property
    def response_length(self) -> int:
        """Tokens after the prompt, sampled and observed."""
        return len(self.token_ids) - self._prompt_length

    def sampled(self, completion: Completion) -> str:
        """Append what the engine sampled; gives its text."""
        text = self._text(completion.token_ids)
        self._append(Segment.from_sample(text, completion.token_ids, completion.logprobs))
        self._version = completion.policy_version
        return text

    def observed(self, ids: tuple[int, ...]) -> None:
        self._append(Segment.observation(self._text(ids), ids))

    def end(self, status: Status, final: str | None = None) -> Trajectory:
        trajectory = Trajectory(
            id=self._id,
            role=self._role,
            segments=tuple(self._segments),
            searches=tuple(self.searches),
            status=status,
            policy_version=self._version,
            final=final,
            seconds=perf_counter() - self._began,
        )
        check_tokens(trajectory, self._codec)
        return trajectory

    def _append(self, segment: Segment) -> None:
        self._segments.append(segment)
        self.token_ids.extend(segment.token_ids)

    def _text(self, ids: Sequence[int]) -> str:
        """What these ids add to the text so far."""
        before = self.token_ids[-_CONTEXT:]
        return self._codec.decode([*before, *ids])[len(self._codec.decode(before)) :]


def check_tokens(trajectory: Trajectory, codec: Codec) -> None:
    """The invariants that training relies on. A failure is a bug, so it is loud."""
    ids, mask, logprobs = trajectory.token_ids, trajectory.mask, trajectory.logprobs
    if not len(ids) == len(mask) == len(logprobs):
        raise AssertionError(f"{trajectory.id}: {len(ids)} tokens, {len(mask)} in mask, {len(logprobs)} log-probs")
    if any(logprob != 0.0 and not sampled for sampled, logprob in zip(mask, logprobs, strict=True)):
        raise AssertionError(f"{trajectory.id}: a token that was not sampled has a log-probability")
    if codec.decode(ids) != trajectory.transcript:
        raise AssertionError(f"{trajectory.id}: its tokens do not decode to its transcript")


def encode_prompt(codec: Codec, pieces: Iterable[Piece]) -> tuple[int, ...]:
    """The prompt in the model's chat format, untrusted pieces encoded apart from the template."""
    untrusted: list[str] = []
    message = ""
    for piece in pieces:
        if piece.trusted:
            message += piece.text
        else:
            message += f"\ue000{len(untrusted)}\ue001"
            untrusted.append(piece.text)
    ids: list[int] = []
    for place, text in enumerate(_HOLE.split(codec.chat(message))):
        if text:
            ids.extend(codec.encode_untrusted(untrusted[int(text)]) if place % 2 else codec.encode(text))
    return tuple(ids)
