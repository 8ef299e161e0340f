"""What commands share that search a corpus of the user's."""

import hashlib
from pathlib import Path

from ssp.cli.output import progress
from ssp.errors import DataError

_CACHE = Path("~/.cache/ssp/index")


def index_of(corpus: Path, cache: Path = _CACHE) -> Path:
    """An index as it is; a corpus is indexed once, in the user's cache, and again when one of its files has changed."""
    from ssp.search.corpus import read_corpus
    from ssp.search.index import build_index
    from ssp.search.manifest import NAME

    corpus = corpus.expanduser()
    if (corpus / NAME).exists():
        return corpus
    if not corpus.exists():
        raise DataError(f"there is no index and no corpus at {corpus}")
    files = sorted(path for path in corpus.rglob("*") if path.is_file()) if corpus.is_dir() else [corpus]
    stamps = [f"{path.resolve()}\0{path.stat().st_mtime_ns}\0{path.stat().st_size}" for path in files]
    index = cache.expanduser() / hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:16]
    if not index.exists():
        with progress() as advance:
            build_index(read_corpus([corpus]), index, progress=advance)
    return index
