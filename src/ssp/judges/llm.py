"""A language model as judge.

What needs no model is decided without one: an answer as it stands, none at all, a refusal, a list to choose from. For
the rest the model is asked, at temperature 0, and its verdict read strictly. No verdict, no score: JudgeError.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import orjson

from ssp.chat import ChatModel
from ssp.errors import JudgeError
from ssp.judges.memory import Memory
from ssp.judges.verdicts import as_list, decide_plainly, parse_verdict
from ssp.text import valid_unicode

_LONGEST = 2000  # characters of a question or prediction that the judge is shown
PROMPT = resources.files("ssp.judges").joinpath("prompt.txt").read_text(encoding="utf-8")


class LlmJudge:
    """Asks a model, and remembers what it said in `cache`."""

    def __init__(self, chat: ChatModel, *, cache: Path | None = None) -> None:
        self.chat = chat
        self.remembered = 0
        self._memory = Memory(cache) if cache else None
        self._under_way: dict[str, asyncio.Lock] = {}

    @property
    def usage(self) -> dict[str, int]:
        return {**self.chat.usage, "remembered": self.remembered}

    async def same(self, question: str, answer: str | Sequence[str], prediction: str) -> bool:
        answers = as_list(answer)
        plain = decide_plainly(answers, prediction)
        if plain is not None:
            return plain
        asked = _prompt(question, answers, prediction)
        key = hashlib.sha256(f"{self.chat.url}\0{self.chat.model}\0{self.chat.tokens}\0{asked}".encode()).hexdigest()
        async with self._under_way.setdefault(key, asyncio.Lock()):  # whoever asks the same waits for the answer
            try:
                return await self._verdict(key, asked)
            finally:
                self._under_way.pop(key, None)

    async def close(self) -> None:
        await self.chat.close()
        if self._memory:
            self._memory.close()

    async def _verdict(self, key: str, asked: str) -> bool:
        reply = self._memory.get(key) if self._memory else None
        if reply is not None:
            self.remembered += 1
        else:
            reply = await self.chat.say(asked)
        verdict = parse_verdict(reply)
        if verdict is None:
            raise JudgeError(f"{self.chat.model} gave no verdict but said {reply[-80:]!r}")
        if self._memory:
            self._memory.put(key, reply)
        return verdict


def _prompt(question: str, answers: Sequence[str], prediction: str) -> str:
    """As JSON, so that nothing in a prediction looks like a part of the instructions."""
    question, prediction = valid_unicode(question)[:_LONGEST], valid_unicode(prediction)[:_LONGEST]
    case = {"question": question, "right answers": [*map(valid_unicode, answers[:20])], "prediction": prediction}
    return PROMPT.replace("{case}", orjson.dumps(case, option=orjson.OPT_INDENT_2).decode())
