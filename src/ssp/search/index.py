"""Building an index directory from a corpus, and opening one as a searcher."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ssp.files import new_directory, refuse_existing
from ssp.protocols import LocalSearcher
from ssp.search import analyzer
from ssp.search.bm25 import Bm25Searcher, write_bm25
from ssp.search.documents import Documents, write_documents
from ssp.search.manifest import EncoderEntry, IndexKind, Manifest, read_manifest, write_manifest
from ssp.types import Doc

Progress = Callable[[str, int], None]
DEFAULT_ENCODER = EncoderEntry(model="minilm", dimensions=0)


def build_index(
    docs: Iterable[Doc],
    out: Path,
    *,
    kind: IndexKind = "bm25",
    encoder: EncoderEntry = DEFAULT_ENCODER,
    progress: Progress = lambda _stage, _count: None,
) -> Manifest:
    """Write a new index directory, whole or not at all. `progress` hears of documents by stage."""
    refuse_existing(out, "index")
    if kind != "bm25":
        from ssp.search.dense import load_encoder, resolve_encoder

        encoder = encoder.model_copy(update={"model": resolve_encoder(encoder.model)})
        load_encoder(encoder.model)  # a wrong name is told before the corpus is read
    with new_directory(out, "index") as scratch:
        stored = _reported(write_documents(scratch, docs), "reading", progress)
        if kind == "dense":
            for _ in stored:
                pass
        else:
            write_bm25(scratch, stored)
        manifest = Manifest(kind=kind, documents=len(Documents(scratch)), analyzer=analyzer.VERSION)
        if kind != "bm25":
            from ssp.search.dense import write_dense

            manifest = manifest.model_copy(update={"encoder": write_dense(scratch, encoder, progress)})
        return write_manifest(scratch, manifest)


def open_index(directory: Path, *, threads: int = 1, compiled: bool = True) -> LocalSearcher:
    """The searcher of an index directory, whatever its kind."""
    manifest = read_manifest(directory)
    if manifest.kind == "bm25":
        return Bm25Searcher(directory, threads=threads, compiled=compiled)
    from ssp.search.dense import DenseSearcher
    from ssp.search.hybrid import HybridSearcher

    assert manifest.encoder is not None, "a dense index names its encoder"
    dense = DenseSearcher(directory, manifest.encoder)
    if manifest.kind == "dense":
        return dense
    return HybridSearcher(Bm25Searcher(directory, threads=threads, compiled=compiled), dense)


def _reported(docs: Iterator[Doc], stage: str, progress: Progress) -> Iterator[Doc]:
    for doc in docs:
        yield doc
        progress(stage, 1)
