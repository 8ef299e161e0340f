"""A language model behind any service that speaks OpenAI's chat completions."""

import asyncio
import os
from typing import Any, Unpack

from ssp.config import ServiceConfig
from ssp.errors import ConfigError, SspError
from ssp.service import Options, Service


class ChatModel:
    """Says something to a message, or raises `error`. `url` is the API's address, such as http://127.0.0.1:8000/v1."""

    def __init__(
        self,
        url: str,
        model: str,
        error: type[SspError],
        *,
        concurrency: int = 16,
        tokens: int = 512,
        **options: Unpack[Options],
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise error(f"{url!r} is not the address of a service; it should begin with http:// or https://")
        base = url.rstrip("/")
        self.model = model
        self.tokens = tokens
        self.usage = {"asked": 0, "prompt_tokens": 0, "completion_tokens": 0}
        self._error = error
        address = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        self._service = Service(address, error, **options)
        self._free = asyncio.Semaphore(concurrency)

    @classmethod
    def of(cls, config: ServiceConfig, error: type[SspError]) -> "ChatModel":
        """The key of a service is read from the variable that the configuration names; it stands in no file."""
        assert config.url is not None
        assert config.model is not None
        key = os.environ.get(config.key_variable) if config.key_variable else None
        if config.key_variable and not key:
            raise ConfigError(f"the key of {config.url} should be in {config.key_variable}, a variable that is not set")
        return cls(
            config.url,
            config.model,
            error,
            concurrency=config.concurrency,
            tokens=config.tokens,
            token=key,
            timeout=config.timeout,
            attempts=config.attempts,
        )

    @property
    def url(self) -> str:
        return self._service.url

    async def say(self, message: str, temperature: float = 0.0, seed: int | None = None) -> str:
        """The whole reply; one that was cut off is none."""
        async with self._free:
            answer = await self._service.ask(self._body(message, self.tokens, temperature, seed))
        try:
            choice = answer["choices"][0]
            text = choice["message"]["content"]
            usage = answer.get("usage") or {}
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._error(f"{self.url} answered in an unknown form") from None
        self.usage["asked"] += 1
        for name in ("prompt_tokens", "completion_tokens"):
            self.usage[name] += usage.get(name) or 0
        if choice.get("finish_reason") == "length":
            raise self._error(f"{self.model} did not come to an end within {self.tokens} tokens")
        return text if isinstance(text, str) else ""

    async def answers(self) -> bool:
        """Whether the service can be had now."""
        try:
            await self._service.ask(self._body("Hello.", 1, 0.0, None))
        except self._error:
            return False
        return True

    async def close(self) -> None:
        await self._service.close()

    def _body(self, message: str, tokens: int, temperature: float, seed: int | None) -> dict[str, Any]:
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": message}],
            "temperature": temperature,
            "max_tokens": tokens,
        }
        return body if seed is None else {**body, "seed": seed}
