"""Search equals a slow reference and bm25s itself, ties included, at any k."""

from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from ssp.search.analyzer import Analyzer, words
from ssp.search.bm25 import K1, TITLE_WEIGHT, B, Bm25Searcher, write_bm25
from ssp.search.corpus import read_corpus
from ssp.search.documents import write_documents
from ssp.types import Doc

RARE = "oak mere dolven karsa 1843 café 北京".split()
COMMON = "river town mayor born lies the of".split()
word = st.sampled_from(RARE) | st.sampled_from(COMMON)
text = st.lists(word, max_size=8).map(" ".join)
corpora = st.lists(st.tuples(text, text), min_size=1, max_size=40).filter(lambda c: any(t + b for t, b in c))


def build(folder: str, corpus: list[tuple[str, str]]) -> Path:
    docs = [Doc(str(n), title, body) for n, (title, body) in enumerate(corpus)]
    path = Path(folder)
    write_bm25(path, write_documents(path, docs))
    return path


@given(corpora, st.lists(text, max_size=4), st.integers(0, 45))
@settings(max_examples=150)
def test_compiled_numpy_and_bm25s_agree(corpus: list[tuple[str, str]], queries: list[str], k: int) -> None:
    with TemporaryDirectory() as folder:
        path = build(folder, corpus)
        compiled = Bm25Searcher(path).rank_now(queries, k)
        assert compiled == Bm25Searcher(path, compiled=False).rank_now(queries, k)
        assert compiled == Bm25Searcher(path, threads=2).rank_now(queries, k)
        analyzer = Analyzer()
        terms = [
            [analyzer.stem(found) for found in words(title) * TITLE_WEIGHT + words(body)] for title, body in corpus
        ]
        library = bm25s.BM25(k1=K1, b=B, method="lucene")
        library.index(terms, show_progress=False)
        for query, (numbers, scores) in zip(queries, compiled, strict=True):
            asked = [term for term in analyzer.query_terms(query) if term in library.vocab_dict]
            expected = library.get_scores(asked) if asked else np.zeros(len(corpus))
            order = sorted(range(len(corpus)), key=lambda n: (-np.float32(expected[n]), n))
            best = [n for n in order if expected[n] > 0][:k]
            assert np.allclose(expected[numbers], scores, rtol=1e-5)
            assert np.allclose(expected[best], scores, rtol=1e-5)


@given(corpora, text)
@settings(max_examples=60)
def test_a_smaller_k_is_a_prefix(corpus: list[tuple[str, str]], query: str) -> None:
    with TemporaryDirectory() as folder:
        searcher = Bm25Searcher(build(folder, corpus))
        numbers, scores = searcher.rank_now([query], 100)[0]
        assert scores == sorted(scores, reverse=True)
        for k in range(len(numbers) + 1):
            assert searcher.rank_now([query], k)[0] == (numbers[:k], scores[:k])
        pairs = list(zip(numbers, scores, strict=True))
        assert pairs == sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def test_pruning_changes_no_result(world_folder: Path, tmp_path: Path) -> None:
    """Whole questions over 2,000 articles: many common words, a few telling ones, and so much to leave out."""
    write_bm25(tmp_path, write_documents(tmp_path, read_corpus([world_folder / "corpus.jsonl"])))
    lines = (world_folder / "questions.jsonl").read_bytes().splitlines()
    questions = [orjson.loads(line)["question"] for line in lines[::4]]
    compiled, plain = Bm25Searcher(tmp_path), Bm25Searcher(tmp_path, compiled=False)
    for k in (1, 3, 10, 500):
        assert compiled.rank_now(questions, k) == plain.rank_now(questions, k)
