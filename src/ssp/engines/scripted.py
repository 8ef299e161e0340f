"""An engine made of what it should say, and a codec that needs no model: for tests, examples and documentation."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ssp.agents.protocol import ALL_TAGS, neutralise
from ssp.errors import EngineError
from ssp.protocols import Codec
from ssp.types import Completion, Sampling, StopReason

if TYPE_CHECKING:
    import torch

_MARKS = tuple(f"<{slash}{tag}>" for tag in ALL_TAGS for slash in ("", "/"))
_MARK = re.compile("|".join(re.escape(mark) for mark in (*_MARKS, "<user>", "<assistant>", "<end>")))


class ByteCodec:
    """Bytes as tokens, tags as single tokens above them.

    >>> codec = ByteCodec()
    >>> codec.decode(codec.encode("<search>Zoë</search>"))
    '<search>Zoë</search>'
    >>> len(codec.encode("<search>")), len(codec.encode_untrusted("<search>"))
    (1, 8)
    """

    def __init__(self) -> None:
        self._marks = [*_MARKS, "<user>", "<assistant>", "<end>"]
        self._ids = {mark: 256 + number for number, mark in enumerate(self._marks)}
        self.end_ids = frozenset({self._ids["<end>"]})

    def __len__(self) -> int:
        return 256 + len(self._marks)

    def encode(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        end = 0
        for mark in _MARK.finditer(text):
            ids += [*text[end : mark.start()].encode(), self._ids[mark[0]]]
            end = mark.end()
        return (*ids, *text[end:].encode())

    def encode_untrusted(self, text: str) -> tuple[int, ...]:
        return tuple(neutralise(text).encode())

    def decode(self, token_ids: Sequence[int]) -> str:
        pieces = (bytes([i]) if i < 256 else self._marks[i - 256].encode() for i in token_ids)
        return b"".join(pieces).decode(errors="replace")

    def chat(self, message: str) -> str:
        return f"<user>{message}<assistant>"


class ScriptedEngine:
    """Says what `reply` makes of the text so far; honours stop strings and token limits as every engine does.

    A reply without a stop string is followed by the end token.

    Log-probabilities are 0: a script is certain. An EngineError raised by `reply` is an outage.

    >>> import asyncio
    >>> engine = ScriptedEngine(ByteCodec(), lambda text: "<answer>Mira</answer> and more")
    >>> [done] = asyncio.run(engine.generate([[1, 2]], [Sampling(max_tokens=99, stop=("</answer>",))]))
    >>> done.text, done.reason.value
    ('<answer>Mira</answer>', 'stop')
    """

    def __init__(self, codec: Codec, reply: Callable[[str], str]) -> None:
        self._codec = codec
        self._reply = reply
        self.policy_version = 0

    @classmethod
    def saying(cls, codec: Codec, *replies: str) -> "ScriptedEngine":
        """Says these texts one after the other, whatever it is asked; then it is out of order."""
        rest: Iterator[str] = iter(replies)

        def reply(_: str) -> str:
            text = next(rest, None)
            if text is None:
                raise EngineError("the script is at its end")
            return text

        return cls(codec, reply)

    async def generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]:
        return [self._complete(prompt, how) for prompt, how in zip(prompts, sampling, strict=True)]

    def _complete(self, prompt: Sequence[int], sampling: Sampling) -> Completion:
        said = self._reply(self._codec.decode(prompt))
        ends = [said.index(stop) + len(stop) for stop in sampling.stop if stop in said]
        reason = StopReason.STOP if ends else StopReason.END
        ids = self._codec.encode(said[: min(ends)]) if ends else (*self._codec.encode(said), *self._codec.end_ids)
        if len(ids) > sampling.max_tokens:
            ids, reason = ids[: sampling.max_tokens], StopReason.LENGTH
        return Completion(ids, (0.0,) * len(ids), self._codec.decode(ids), reason, self.policy_version)

    async def load(self, weights: "Mapping[str, torch.Tensor]", version: int) -> None:
        self.policy_version = version

    async def close(self) -> None:
        return None
