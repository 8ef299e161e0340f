"""The documents of an index: one JSON line each, found by number through a table of offsets."""

import array
import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import numpy as np
import orjson

from ssp.errors import DataError
from ssp.search.arrays import open_array, open_bytes
from ssp.types import Doc

_LINES, _OFFSETS = "docs.jsonl", "docs.offsets.npy"


def write_documents(directory: Path, docs: Iterable[Doc]) -> Iterator[Doc]:
    """Write the documents while passing them on to whoever indexes them. Refuses an id that comes twice."""
    ends = array.array("q", [0])
    fingerprints = array.array("Q")
    with (directory / _LINES).open("wb") as stream:
        for doc in docs:
            line = orjson.dumps([doc.id, doc.title, doc.text]) + b"\n"
            stream.write(line)
            ends.append(ends[-1] + len(line))
            digest = hashlib.blake2b(doc.id.encode(), digest_size=8).digest()
            fingerprints.append(int.from_bytes(digest, "little"))
            yield doc
    if not fingerprints:
        raise DataError("the corpus has no documents")
    np.save(directory / _OFFSETS, np.frombuffer(ends, dtype=np.int64))
    values, counts = np.unique(np.frombuffer(fingerprints, dtype=np.uint64), return_counts=True)
    if len(values) < len(fingerprints):
        repeated = np.flatnonzero(np.frombuffer(fingerprints, dtype=np.uint64) == values[counts > 1][0])
        doc_id = Documents(directory)[int(repeated[0])].id
        raise DataError(
            f"the corpus has two documents with the id {doc_id!r} (numbers {repeated[0] + 1} and {repeated[1] + 1})"
        )


class Documents:
    """Documents by number, read in place."""

    def __init__(self, directory: Path) -> None:
        self._lines = open_bytes(directory / _LINES)
        self._offsets = open_array(directory / _OFFSETS)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> Doc:
        return self.read([number])[number]

    def read(self, numbers: Collection[int]) -> dict[int, Doc]:
        """Several documents by number."""
        places = np.fromiter(numbers, dtype=np.int64, count=len(numbers))
        ends = zip(numbers, self._offsets[places].tolist(), self._offsets[places + 1].tolist(), strict=True)
        try:
            return {number: Doc(*orjson.loads(self._lines[start:end])) for number, start, end in ends}
        except (orjson.JSONDecodeError, TypeError, ValueError):
            raise DataError("a document of the index is damaged; build the index again") from None

    def __iter__(self) -> Iterator[Doc]:
        return (self[number] for number in range(len(self)))
