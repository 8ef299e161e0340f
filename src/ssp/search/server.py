"""`ssp serve`: an index behind the `/retrieve` protocol."""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from ssp.errors import SspError
from ssp.protocols import Searcher
from ssp.search import wire
from ssp.search.batcher import Batcher
from ssp.types import Hit


def make_app(
    searcher: Searcher,
    *,
    documents: int,
    token: str | None = None,
    topk: int = wire.DEFAULT_TOP_K,
    workers: int = 1,
) -> Starlette:
    """The web application around a searcher. It closes the searcher when it shuts down."""
    batcher = Batcher(searcher, workers=workers)

    async def retrieve(request: Request) -> Response:
        _check_token(request, token)
        wanted = _parse(await _body(request))
        try:
            queries = [query[: wire.MAX_QUERY_CHARACTERS] for query in wanted.queries]
            found = await batcher.search(queries, wanted.topk or topk)
        except SspError as error:
            raise HTTPException(503, str(error)) from None
        return _json({"result": [_row(hits, wanted.return_scores) for hits in found]})

    async def health(_: Request) -> Response:
        return _json({"status": "ok", "documents": documents})

    async def description(_: Request) -> Response:
        return _json(wire.openapi(with_token=token is not None))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await batcher.close()

    return Starlette(
        routes=[
            Route("/retrieve", retrieve, methods=["POST"]),
            Route("/healthz", health, methods=["GET"]),
            Route("/openapi.json", description, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _refuse},
        lifespan=lifespan,
    )


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json({"error": error.detail}, error.status_code, error.headers)


def _json(content: object, status: int = 200, headers: object = None) -> Response:
    assert headers is None or isinstance(headers, dict)
    return Response(orjson.dumps(content), status, headers, media_type="application/json")


def _row(hits: list[Hit], return_scores: bool) -> list[object]:
    documents = [{"id": hit.doc.id, "contents": hit.doc.contents} for hit in hits]
    if not return_scores:
        return list(documents)
    return [{"document": document, "score": hit.score} for document, hit in zip(documents, hits, strict=True)]


def _check_token(request: Request, token: str | None) -> None:
    if token is None:
        return
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise HTTPException(401, "this server needs its bearer token", {"WWW-Authenticate": "Bearer"})


async def _body(request: Request) -> bytes:
    """The request's body, refused as soon as it is known to be too long."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind not in ("application/json", "text/json", ""):
        raise HTTPException(415, f"send the body as application/json, not {kind}")
    too_long = HTTPException(413, f"the body is longer than {wire.MAX_BODY_BYTES} bytes; send fewer queries at once")
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > wire.MAX_BODY_BYTES:
        raise too_long
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > wire.MAX_BODY_BYTES:
                raise too_long
    except ClientDisconnect:
        raise HTTPException(400, "the client went away") from None
    return bytes(body)


def _parse(body: bytes) -> wire.RetrieveRequest:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise HTTPException(400, f"the body is not valid JSON: {error}") from None
    try:
        wanted = wire.RetrieveRequest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "body"
        raise HTTPException(422, f"{place}: {first['msg']}") from None
    return wanted
