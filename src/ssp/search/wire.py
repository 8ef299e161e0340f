"""The `/retrieve` protocol as the server speaks it: requests, limits, and its OpenAPI description."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ssp import __version__

MAX_BODY_BYTES = 32 << 20
MAX_QUERIES = 4096
MAX_TOP_K = 1000
MAX_QUERY_CHARACTERS = 2_000
DEFAULT_TOP_K = 3


class RetrieveRequest(BaseModel):
    """What a client asks. Unknown fields are ignored, as published clients send a few of their own."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    queries: list[str] = Field(
        max_length=MAX_QUERIES,
        description=f"Answered in this order; each is cut at {MAX_QUERY_CHARACTERS} characters.",
    )
    topk: int | None = Field(
        default=None, ge=1, le=MAX_TOP_K, description="Documents per query; the server's default if absent."
    )
    return_scores: bool = Field(default=False, description="Wrap every document with its score.")

    @field_validator("topk", mode="before")
    @classmethod
    def _whole_number(cls, value: Any) -> Any:
        """JSON does not tell 3.0 from 3."""
        return int(value) if isinstance(value, float) and value.is_integer() else value


_DOCUMENT = {
    "type": "object",
    "required": ["id", "contents"],
    "properties": {
        "id": {"type": "string"},
        "contents": {"type": "string", "description": "Title in quotes, newline, text."},
    },
}
_SCORED = {
    "type": "object",
    "required": ["document", "score"],
    "properties": {"document": _DOCUMENT, "score": {"type": "number"}},
}
_ERROR = {
    "description": "What is wrong with the request, in one line.",
    "content": {
        "application/json": {
            "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
        }
    },
}


def openapi(with_token: bool) -> dict[str, Any]:
    """The service's OpenAPI 3.1 description."""
    rows = {"type": "array", "items": {"type": "array", "items": {"anyOf": [_SCORED, _DOCUMENT]}}}
    request = RetrieveRequest.model_json_schema()
    request["properties"]["topk"] = {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_TOP_K}
    retrieve: dict[str, Any] = {
        "summary": "Find documents for queries.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "responses": {
            "200": _answer({"type": "object", "required": ["result"], "properties": {"result": rows}}),
            **dict.fromkeys(("400", "401", "413", "415", "422", "503"), _ERROR),
        },
    }
    health = {
        "type": "object",
        "required": ["status", "documents"],
        "properties": {"status": {"const": "ok"}, "documents": {"type": "integer"}},
    }
    description: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "ssp serve", "version": __version__},
        "paths": {
            "/retrieve": {"post": retrieve},
            "/healthz": {"get": {"summary": "Is the service up?", "responses": {"200": _answer(health)}}},
        },
    }
    if with_token:
        description["components"] = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
        retrieve["security"] = [{"token": []}]
    return description


def _answer(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": "The answer.", "content": {"application/json": {"schema": schema}}}
