"""The ground of a run: corpus, index and starting model, inside the run directory."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ssp.config import Config
from ssp.errors import DataError
from ssp.evaluate.multihop import find_corpus
from ssp.evaluate.sets import named_sets
from ssp.files import new_directory
from ssp.models.find import find_model
from ssp.monitors.open import require_installed
from ssp.runs.seeds import SEEDS, is_reserved
from ssp.runs.versions import versions
from ssp.search.corpus import read_corpus
from ssp.search.documents import Documents
from ssp.search.index import build_index, open_index
from ssp.search.manifest import EncoderEntry
from ssp.seeds.files import read_seeds, seed_rows
from ssp.seeds.mining import HOPS, as_seeds, mine
from ssp.seeds.reach import within_reach
from ssp.types import Seed
from ssp.worlds.world import WorldSettings
from ssp.worlds.write import write_world

Progress = Callable[[str, int], None]
INDEX = "index"
FIRST_CHECKPOINT = Path("checkpoints") / "step-000000"


@dataclass(frozen=True, slots=True)
class Ground:
    """Where things are, and how many documents there are; no `world` for a corpus of the user's own.

    Without an `index` it is a service that searches.
    """

    run: Path
    index: Path | None
    world: Path | None
    documents: int | None


def next_run(folder: Path, name: str) -> Path:
    """The first free `name-NNN` in the folder, so that a run is never written over another."""
    taken = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    return folder / next(free for n in range(1, 10**6) if (free := f"{name}-{n:03d}") not in taken)


def prepare(config: Config, run: Path, progress: Progress) -> Ground:
    """Write the run directory with its configuration, corpus, index and model: whole, or not at all."""
    require_installed(config.monitors)
    with new_directory(run, "run") as scratch:
        (scratch / "config.json").write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
        (scratch / "versions.json").write_text(json.dumps(versions(), indent=1) + "\n", encoding="utf-8")
        if config.corpus == "world":
            settings = WorldSettings(config.world.articles, config.seed, config.world.richness)
            write_world(settings, scratch / "world", config.world.hops, lambda n: progress("writing articles", n))
        documents = _build_index(config, scratch, progress)
        named_sets(config.eval)  # a missing one is told before the lessons, not after
        _write_seeds(config, scratch, progress)
        shutil.copytree(_starting_model(config, scratch / INDEX, progress), scratch / FIRST_CHECKPOINT / "model")
    world = run / "world" if config.corpus == "world" else None
    return Ground(run, None if documents is None else run / INDEX, world, documents)


def _build_index(config: Config, run: Path, progress: Progress) -> int | None:
    """The index of the corpus, and how many documents it has; none where a service searches."""
    if config.search.kind == "http":
        return None
    encoder = EncoderEntry(model=config.search.encoder, dimensions=0)
    docs = read_corpus([_corpus(config, run, progress)])
    return build_index(docs, run / INDEX, kind=config.search.kind, encoder=encoder, progress=progress).documents


def _corpus(config: Config, run: Path, progress: Progress) -> Path:
    if config.corpus == "world":
        return run / "world" / "corpus.jsonl"
    return find_corpus(config.corpus, Path(config.eval.data).expanduser(), progress)


def _write_seeds(config: Config, run: Path, progress: Progress) -> None:
    """Those of a file, or mined from the corpus; a generated world has its own."""
    if config.seeds is not None:
        seeds = read_seeds(Path(config.seeds).expanduser())
    elif config.corpus != "world":
        seeds = _mined(config, run, progress)
    else:
        return
    if config.steps and not any(not is_reserved(one, config) for one in seeds):
        raise DataError("there is nothing to propose for: name a file of answers with --set seeds=FILE")
    (run / SEEDS).write_bytes(b"".join(seed_rows(seeds)))


def _mined(config: Config, run: Path, progress: Progress) -> list[Seed]:
    """Answers that stand where agents see them, and that a search for them finds; all, where a service searches."""
    indexed = (run / INDEX).exists()
    docs = Documents(run / INDEX) if indexed else read_corpus([_corpus(config, run, progress)])
    seen = [replace(doc, text=doc.text[: config.visible]) for doc in docs]
    mined = mine(seen, progress)
    known = [one for one in mined if one.kind != "name" or one.mentioned > 1]  # a name met once may be no name
    seeds = as_seeds(known or mined, seed=config.seed)
    if config.search.kind != "bm25":
        return seeds
    seeds = within_reach(seeds, open_index(run / INDEX), config.search.k, config.visible)
    return _taught(config, run, seeds) if config.warmup.lessons else seeds


def _taught(config: Config, run: Path, seeds: list[Seed]) -> list[Seed]:
    """Of these the ones that lessons show how to ask for; all, if there are none."""
    from ssp.warmup.askable import askable
    from ssp.warmup.kept import libraries

    [library] = libraries(config, run / INDEX, config.visible, natural=True)
    return askable(seeds, library, config.search.k, most=len(config.game.hops or HOPS)) or seeds


def _starting_model(config: Config, index: Path, progress: Progress) -> Path:
    """The generated model, warmed up now or found in the cache; a known or a hub's model; one of the user's own."""
    if config.model.path == "tiny":
        from ssp.warmup.tiny import warmed_up_model

        return warmed_up_model(config, index, progress)
    model = find_model(config.model.path, progress)
    if not config.warmup.lessons:
        return model
    from ssp.warmup.pretrained import taught_model

    return taught_model(config, model, index, progress)
