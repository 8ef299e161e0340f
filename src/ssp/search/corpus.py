"""Reading corpora: JSONL or Parquet, plain or gzipped, and folders of text files; one document at a time.

Rows are `{"id","title","text"}` or `{"id","contents"}` with the title in the first line of the contents, as the
published systems write it. A bad row is reported by file and line. Files of a folder are cut into passages at
paragraph borders.
"""

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from ssp.errors import DataError
from ssp.types import Doc

TEXT_SUFFIXES = (".txt", ".md")
ROW_SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
PASSAGE_CHARACTERS = 1200
_FRONT_MATTER = re.compile(r"\A---\r?\n.*?\n---[ \t]*(\r?\n|\Z)", re.DOTALL)


def read_corpus(paths: Iterable[Path]) -> Iterator[Doc]:
    """All documents of the given files and folders, in order."""
    given = [path.expanduser() for path in paths]
    for path in given:
        try:
            found, is_folder = path.exists(), path.is_dir()
        except OSError as error:
            raise DataError(f"{path}: can't be read: {error.strerror}") from None
        if not found:
            raise DataError(f"no corpus at {path}")
        prefix = f"{path.as_posix()}/" if len(given) > 1 else ""  # two folders may both have a README.md
        yield from _read_folder(path, prefix) if is_folder else _read_file(path)


def _read_file(path: Path) -> Iterator[Doc]:
    name = path.name.lower()
    if name.endswith((".jsonl", ".jsonl.gz")):
        return _read_jsonl(path)
    if name.endswith((".parquet", ".parquet.gz")):
        return _read_parquet(path)
    if name.endswith(TEXT_SUFFIXES):
        return _read_text(path, path.as_posix())
    raise DataError(f"{path}: unknown kind of corpus; known are {', '.join((*ROW_SUFFIXES, *TEXT_SUFFIXES))}")


def _read_folder(folder: Path, prefix: str) -> Iterator[Doc]:
    """All text files below the folder, in order; hidden folders (.git, .venv) are left out."""
    below = (p for p in folder.rglob("*") if p.name.lower().endswith(TEXT_SUFFIXES))
    files = sorted(p for p in below if p.is_file() and not any(n.startswith(".") for n in p.relative_to(folder).parts))
    if not files:
        rows = [p.name for p in sorted(folder.iterdir()) if p.name.lower().endswith(ROW_SUFFIXES)]
        hint = f"; name the file itself, such as {folder / rows[0]}" if rows else ""
        raise DataError(f"{folder}: no .txt or .md files in this folder{hint}")
    for path in files:
        yield from _read_text(path, prefix + path.relative_to(folder).as_posix())


def _read_jsonl(path: Path) -> Iterator[Doc]:
    compressed = path.name.lower().endswith(".gz")
    number = 0
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield _document(_parse_json(line, f"{path}:{number}"), f"{path}:{number}")
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}:{number + 1}: can't be read further: {error}") from None


def _parse_json(line: bytes, where: str) -> Any:
    try:
        return orjson.loads(line.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise DataError(f"{where}: not valid JSON ({error})") from None


def _read_parquet(path: Path) -> Iterator[Doc]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if path.name.lower().endswith(".gz"):
            with gzip.open(path, "rb") as packed:
                table = parquet.ParquetFile(pa.BufferReader(packed.read()))
        else:
            table = parquet.ParquetFile(path)
        number = 0
        for batch in table.iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                number += 1
                yield _document(row, f"{path}: row {number}")
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a readable Parquet file ({error})") from None


def _document(row: Any, where: str) -> Doc:
    """A row as a document, in either form of the field."""
    if not isinstance(row, dict):
        raise DataError(f"{where}: expected an object with id, title and text")
    doc_id = row.get("id")
    if isinstance(doc_id, int) and not isinstance(doc_id, bool):
        doc_id = str(doc_id)
    if not isinstance(doc_id, str) or doc_id == "":
        raise DataError(f"{where}: no id (a text or a number)")
    content = title_and_text(row)
    if content is None:
        raise DataError(f'{where}: neither "contents" nor "title" and "text"')
    if not isinstance(row.get("title") or "", str):
        raise DataError(f"{where}: the title is not text")
    return Doc(doc_id, *content)


def title_and_text(row: dict[str, Any]) -> tuple[str, str] | None:
    """Title and text of a document in either form of the field; None where it has neither.

    >>> title_and_text({"title": "Oakmere", "text": "A town."}), title_and_text({"contents": '"Oakmere"\\nA town.'})
    (('Oakmere', 'A town.'), ('Oakmere', 'A town.'))
    """
    if isinstance(row.get("text"), str):
        return str(row.get("title") or ""), row["text"]
    return split_contents(row["contents"]) if isinstance(row.get("contents"), str) else None


def split_contents(contents: str) -> tuple[str, str]:
    """Title and text of the one-field form: the title is the first line, usually in quotes.

    >>> split_contents('"Oakmere"\\nA town.')
    ('Oakmere', 'A town.')
    >>> split_contents("No title here.")
    ('', 'No title here.')
    """
    head, newline, rest = contents.partition("\n")
    if not newline:
        return "", contents
    quoted = len(head) >= 2 and head[0] == head[-1] == '"'
    return (head[1:-1] if quoted else head), rest


def _read_text(path: Path, name: str) -> Iterator[Doc]:
    try:
        name.encode()
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeEncodeError:
        raise DataError(f"{os.fsencode(path)!r}: the file name is not UTF-8; rename the file") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from None
    title, body = _split_heading(text)
    passages = cut_passages(body)
    for number, passage in enumerate(passages):
        doc_id = name if len(passages) == 1 else f"{name}#{number + 1}"
        yield Doc(doc_id, title or Path(name).stem, passage)


def _split_heading(text: str) -> tuple[str, str]:
    """A leading Markdown heading is the title. Front matter (between lines of ---) is not part of the text."""
    stripped = _FRONT_MATTER.sub("", text.lstrip()).lstrip()
    head, _, rest = stripped.partition("\n")
    return (head[2:].strip(), rest) if head.startswith("# ") else ("", stripped)


def cut_passages(text: str, limit: int = PASSAGE_CHARACTERS) -> list[str]:
    """Paragraphs gathered into passages of up to `limit` characters; a longer paragraph is cut at spaces.

    >>> cut_passages("One.\\n\\nTwo.\\n\\nThree is long.", limit=12)
    ['One.\\n\\nTwo.', 'Three is', 'long.']
    """
    passages: list[str] = []
    for paragraph in (part.strip() for part in text.split("\n\n")):
        for piece in _cut_paragraph(paragraph, limit):
            if passages and len(passages[-1]) + 2 + len(piece) <= limit:
                passages[-1] += f"\n\n{piece}"
            else:
                passages.append(piece)
    return passages


def _cut_paragraph(paragraph: str, limit: int) -> Iterator[str]:
    while len(paragraph) > limit:
        space = paragraph.rfind(" ", 1, limit + 1)
        end = space if space > 0 else limit
        yield paragraph[:end].strip()
        paragraph = paragraph[end:].strip()
    if paragraph:
        yield paragraph
