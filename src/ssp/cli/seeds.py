"""`ssp seeds`."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssp.cli.output import progress, say, say_json
from ssp.errors import DataError


def seeds(
    corpus: Path,
    *,
    out: Path,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Mine answers to propose for from a corpus: what it is about and what it mentions, English or Chinese.

    Parameters
    ----------
    corpus
        JSONL or Parquet file, plain or gzip, or a folder of .txt and .md files.
    out
        File to write: one JSON object a line, with answer, aliases and hops.
    seed
        Decides how many hops are asked for, where several are possible.
    json
        Print the counts as JSON.
    """
    from ssp.files import new_file
    from ssp.search.corpus import read_corpus
    from ssp.seeds.files import seed_rows
    from ssp.seeds.mining import as_seeds, counts_by_kind, mine

    if out.exists():
        raise DataError(f"{out} exists already; choose another --out, or remove it")
    with progress() as advance:
        docs = list(read_corpus([corpus]))
        mined = mine(docs, advance)
    made = as_seeds(mined, seed=seed)
    if not made:
        raise DataError(
            f"no document of {corpus} mentions anything that another one is about: there is nothing to mine"
        )
    with new_file(out) as scratch:
        scratch.write_bytes(b"".join(seed_rows(made)))
    kinds, hops = counts_by_kind(mined), dict(sorted(Counter(one.hops for one in made).items()))
    if json:
        say_json(
            {
                "seeds": len(made),
                "documents": len(docs),
                "kinds": kinds,
                "hops": {str(n): count for n, count in hops.items()},
                "file": str(out),
            }
        )
        return
    say(f"{out}: {len(made):,} seeds from {len(docs):,} documents")
    say("  by kind: " + ", ".join(f"{kind} {count:,}" for kind, count in kinds.items()))
    say("  by hops: " + ", ".join(f"{count:,} with {number}" for number, count in hops.items()))
    step = max(1, len(made) // 5)
    say("  such as: " + ", ".join(one.answer for one in made[::step][:5]))
