"""Asking a service over HTTP: pooled connections, retries with backoff, and one typed error when it can't be had.

Retries happen here and nowhere else.
"""

from typing import Any, TypedDict

import httpx
import orjson
import stamina

from ssp.errors import SspError

_PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class _PassingFailure(Exception):
    """The request is worth repeating."""


class Options(TypedDict, total=False):
    """How a service is asked. A `transport` puts a function in place of the network, for tests."""

    token: str | None
    timeout: float
    attempts: int
    connections: int
    transport: httpx.AsyncBaseTransport | None


class Service:
    """One address that takes JSON and answers with JSON; raises `error` if it does not.

    Who wants to tell a service that can't be reached from one that refuses names another error for the first (`gone`).
    """

    def __init__(
        self,
        url: str,
        error: type[SspError],
        *,
        token: str | None = None,
        timeout: float = 30.0,
        attempts: int = 5,
        connections: int = 32,
        transport: httpx.AsyncBaseTransport | None = None,
        gone: type[SspError] | None = None,
    ) -> None:
        self.url = url
        self._error = error
        self._gone = gone or error
        self._attempts = attempts
        self._client = httpx.AsyncClient(
            timeout=timeout,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            transport=transport,
        )

    async def ask(self, body: Any) -> Any:
        """The answer to a request; what passes (no connection, too busy) is tried again."""
        content = orjson.dumps(body)
        try:
            async for attempt in stamina.retry_context(
                on=_PassingFailure, attempts=self._attempts, timeout=None, wait_initial=0.1, wait_max=10.0
            ):
                with attempt:
                    return await self._post(content)
        except _PassingFailure as failure:
            tries = f" after {self._attempts} tries" if self._attempts > 1 else ""
            raise self._gone(f"{self.url} did not answer{tries}: {failure}") from None
        raise AssertionError("unreachable: the retry context returns or raises")

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, content: bytes) -> Any:
        try:
            response = await self._client.post(self.url, content=content, headers={"Content-Type": "application/json"})
        except httpx.TransportError as error:
            raise _PassingFailure(str(error) or type(error).__name__) from None
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise self._error(f"{self.url} can't be asked: {error}") from None
        if response.status_code in _PASSING_STATUS:
            raise _PassingFailure(f"status {response.status_code}")
        if response.status_code != 200:
            raise self._error(f"{self.url} refused: status {response.status_code}: {response.text[:200]}")
        try:
            return orjson.loads(response.content)
        except orjson.JSONDecodeError:
            raise self._error(f"{self.url} answered something that is not JSON") from None
