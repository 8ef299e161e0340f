"""A searcher of one's own: counts the query's words in the files of a folder.

Run it: python examples/custom_searcher.py FOLDER "what to look for"
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from ssp.search.corpus import read_corpus
from ssp.text import folded_words
from ssp.types import Doc, Hit


class GrepSearcher:
    """Scores a document by how many of the query's words it has."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self._docs = [(doc, set(folded_words(f"{doc.title} {doc.text}"))) for doc in docs]

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._search(set(folded_words(query)), k) for query in queries]

    async def close(self) -> None:
        return None

    def _search(self, wanted: set[str], k: int) -> list[Hit]:
        scored = [(len(wanted & words), doc) for doc, words in self._docs]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:k]  # stable: ties keep order
        return [Hit(doc, rank, float(score)) for rank, (score, doc) in enumerate(best, start=1)]


async def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    searcher = GrepSearcher(list(read_corpus([Path(sys.argv[1])])))
    for hit in (await searcher.search([sys.argv[2]], k=3))[0]:
        sys.stdout.write(f"{hit.rank}. {hit.doc.title}: {hit.doc.text[:80]}\n")


if __name__ == "__main__":
    asyncio.run(main())
