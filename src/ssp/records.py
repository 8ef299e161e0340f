"""Records on disk and on the wire: one JSON object per line, with its type and schema version in front.

>>> from ssp.types import Doc
>>> encode(Doc(id="d1", title="Oakmere", text="A town."))
b'{"schema":1,"type":"Doc","id":"d1","title":"Oakmere","text":"A town."}'
>>> decode(Doc, encode(Doc(id="d1", title="Oakmere", text="A town."))).title
'Oakmere'

The round trip is lossless for every type of ssp.types. A record of another type or of a newer schema is
refused with a clear DataError, never half-read.
"""

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from ssp.errors import DataError

SCHEMA = 1
T = TypeVar("T")


@cache
def _adapter(cls: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(type, cls))


def encode(record: object) -> bytes:
    """The record as one line of JSON, without the newline."""
    body = _adapter(cast(Hashable, type(record))).dump_json(record)
    return f'{{"schema":{SCHEMA},"type":"{type(record).__name__}",'.encode() + body[1:]


def decode(cls: type[T], line: bytes | str, where: str = "record") -> T:
    """Read one line back. `where` names the file and line in the error message."""
    try:
        head = from_json(line)
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(head, dict) or "schema" not in head:
        raise DataError(f"{where}: not a record of this package (no schema version)")
    if head["schema"] != SCHEMA:
        raise DataError(f"{where}: schema {head['schema']!r}, but this version of ssp reads schema {SCHEMA}")
    if head.get("type") != cls.__name__:
        raise DataError(f"{where}: expected a {cls.__name__} record, found {head.get('type')!r}")
    try:
        record: T = _adapter(cast(Hashable, cls)).validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or cls.__name__
        raise DataError(f"{where}: {place}: {first['msg']}") from None
    return record
