"""`ssp search`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssp.cli.output import say, say_json
from ssp.errors import ConfigError
from ssp.search.index import open_index
from ssp.types import Hit


def search(
    index: Path, query: str, *, k: Annotated[int, Parameter(name=["-k", "--k"])] = 3, json: bool = False
) -> None:
    """Search an index and print the best documents.

    Parameters
    ----------
    index
        Index directory, as `ssp index` writes it.
    query
        What to look for.
    k
        How many documents.
    json
        Print the hits as JSON.
    """
    if k < 1:
        raise ConfigError(f"-k must be at least 1, got {k}")
    hits = open_index(index, compiled=False).search_now([query], k)[0]
    if json:
        say_json({"hits": [_row(hit) for hit in hits]})
        return
    for hit in hits:
        say(f"{hit.rank}. {hit.doc.title}  [{hit.doc.id}]  {hit.score:.3f}\n   {' '.join(hit.doc.text.split())}")
    if not hits:
        say("nothing found")


def _row(hit: Hit) -> dict[str, object]:
    return {"id": hit.doc.id, "title": hit.doc.title, "text": hit.doc.text, "score": hit.score}
