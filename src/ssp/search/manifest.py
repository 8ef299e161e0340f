"""The page in front of an index directory: what it is, which version, and the size and checksum of every file."""

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from ssp.errors import DataError
from ssp.search import analyzer

NAME = "index.json"
VERSION = 1
IndexKind = Literal["bm25", "dense", "hybrid"]


class FileEntry(BaseModel):
    """Size and checksum of one file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    bytes: int
    blake2b: str


class EncoderEntry(BaseModel):
    """The encoder of a dense index: queries must be encoded as the passages were."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    model: str
    dimensions: int
    query_prefix: str = ""
    passage_prefix: str = ""
    compression: Literal["none", "sq8"] = "none"


class Manifest(BaseModel):
    """`index.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: Literal["ssp-index"] = "ssp-index"
    version: int = VERSION
    kind: IndexKind
    documents: int
    analyzer: int
    encoder: EncoderEntry | None = None
    files: dict[str, FileEntry] = {}


def write_manifest(directory: Path, manifest: Manifest) -> Manifest:
    """Write the page last, with all files of the directory in it."""
    files = {path.name: _describe(path) for path in sorted(directory.iterdir()) if path.name != NAME}
    complete = manifest.model_copy(update={"files": files})
    (directory / NAME).write_text(complete.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return complete


def read_manifest(directory: Path) -> Manifest:
    """Read the page and check that every file is there with its size. Checksums are for `verify_index`."""
    path = directory / NAME
    if not directory.is_dir():
        raise DataError(f"no index at {directory}; build one with: ssp index CORPUS --out {directory}")
    if not path.is_file():
        raise DataError(f"{directory} is not an index (it has no {NAME}); build one with: ssp index CORPUS --out DIR")
    try:
        raw = path.read_bytes()
        version = from_json(raw)["version"]
        if version != VERSION:
            raise DataError(f"{directory} has index version {version}, this ssp reads {VERSION}; build it again")
        manifest = Manifest.model_validate_json(raw)
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not readable ({type(error).__name__}); build the index again") from None
    if manifest.kind != "dense" and manifest.analyzer != analyzer.VERSION:
        raise DataError(f"{directory} was indexed with other rules for words; build it again")
    for name, entry in manifest.files.items():
        _check_size(directory / name, entry)
    return manifest


def verify_index(directory: Path) -> Manifest:
    """Check every file against its checksum."""
    manifest = read_manifest(directory)
    for name, entry in manifest.files.items():
        if _describe(directory / name).blake2b != entry.blake2b:
            raise DataError(f"{directory / name} is damaged (checksum differs); build the index again")
    return manifest


def _check_size(path: Path, entry: FileEntry) -> None:
    if not path.is_file():
        raise DataError(f"{path} is missing; build the index again")
    if path.stat().st_size != entry.bytes:
        raise DataError(f"{path} is damaged ({path.stat().st_size} bytes, not {entry.bytes}); build the index again")


def _describe(path: Path) -> FileEntry:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return FileEntry(bytes=path.stat().st_size, blake2b=digest.hexdigest())
