"""A language model as judge, behind any service that speaks OpenAI's chat completions.

What needs no model is decided without one: an answer as it stands, none at all, a refusal, a list to choose from. For
the rest the model is asked, at temperature 0, and its verdict read strictly. No verdict, no score: JudgeError.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Unpack

import orjson

from ssp.errors import JudgeError
from ssp.judges.memory import Memory
from ssp.judges.verdicts import as_list, decide_plainly, parse_verdict
from ssp.service import Options, Service
from ssp.text import valid_unicode

_LONGEST = 2000  # characters of a question or prediction that the judge is shown
PROMPT = resources.files("ssp.judges").joinpath("prompt.txt").read_text(encoding="utf-8")


class LlmJudge:
    """Asks a model. `url` is the address of the API, such as http://127.0.0.1:8000/v1; `options` are a Service's."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        cache: Path | None = None,
        concurrency: int = 16,
        tokens: int = 512,
        **options: Unpack[Options],
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise JudgeError(f"{url!r} is not an address of a judge; it should begin with http:// or https://")
        base = url.rstrip("/")
        self.model = model
        self.usage = {"asked": 0, "remembered": 0, "prompt_tokens": 0, "completion_tokens": 0}
        self._tokens = tokens
        self._service = Service(
            base if base.endswith("/chat/completions") else f"{base}/chat/completions", JudgeError, **options
        )
        self._free = asyncio.Semaphore(concurrency)
        self._memory = Memory(cache) if cache else None
        self._under_way: dict[str, asyncio.Lock] = {}

    async def same(self, question: str, answer: str | Sequence[str], prediction: str) -> bool:
        answers = as_list(answer)
        plain = decide_plainly(answers, prediction)
        if plain is not None:
            return plain
        asked = _prompt(question, answers, prediction)
        key = hashlib.sha256(f"{self._service.url}\0{self.model}\0{self._tokens}\0{asked}".encode()).hexdigest()
        async with self._under_way.setdefault(key, asyncio.Lock()):  # whoever asks the same waits for the answer
            try:
                return await self._verdict(key, asked)
            finally:
                self._under_way.pop(key, None)

    async def close(self) -> None:
        await self._service.close()
        if self._memory:
            self._memory.close()

    async def _verdict(self, key: str, asked: str) -> bool:
        reply = self._memory.get(key) if self._memory else None
        if reply is not None:
            self.usage["remembered"] += 1
        else:
            async with self._free:
                reply = await self._ask(asked)
        verdict = parse_verdict(reply)
        if verdict is None:
            raise JudgeError(f"{self.model} gave no verdict but said {reply[-80:]!r}")
        if self._memory:
            self._memory.put(key, reply)
        return verdict

    async def _ask(self, asked: str) -> str:
        messages = [{"role": "user", "content": asked}]
        body = {"model": self.model, "messages": messages, "temperature": 0.0, "max_tokens": self._tokens}
        answer = await self._service.ask(body)
        try:
            choice = answer["choices"][0]
            text = choice["message"]["content"]
            usage = answer.get("usage") or {}
        except (KeyError, IndexError, TypeError, AttributeError):
            raise JudgeError(f"{self._service.url} answered in an unknown form") from None
        self.usage["asked"] += 1
        for name in ("prompt_tokens", "completion_tokens"):
            self.usage[name] += usage.get(name) or 0
        if choice.get("finish_reason") == "length":
            raise JudgeError(f"{self.model} did not come to an end within {self._tokens} tokens")
        return text if isinstance(text, str) else ""


def _prompt(question: str, answers: Sequence[str], prediction: str) -> str:
    """As JSON, so that nothing in a prediction looks like a part of the instructions."""
    question, prediction = valid_unicode(question)[:_LONGEST], valid_unicode(prediction)[:_LONGEST]
    case = {"question": question, "right answers": [*map(valid_unicode, answers[:20])], "prediction": prediction}
    return PROMPT.replace("{case}", orjson.dumps(case, option=orjson.OPT_INDENT_2).decode())
