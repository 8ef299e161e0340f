"""Models that were taught are kept by what they were made from, so that a second run finds them made."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ssp.agents.agent import Budget, SearchAgent
from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.config import Config
from ssp.engines.codec import HfCodec
from ssp.engines.scripted import ScriptedEngine
from ssp.search.documents import Documents
from ssp.search.index import open_index
from ssp.search.manifest import read_manifest
from ssp.search.static import StaticSearcher
from ssp.seeds.mining import mine
from ssp.warmup.cloze import ClozeLibrary
from ssp.warmup.library import Library
from ssp.warmup.world_library import WorldLibrary
from ssp.worlds.world import WorldSettings

SIBLINGS = 4  # worlds with the same names and other facts that lessons are made from
_MADE_BY = (
    "agents",
    "engines/scripted.py",
    "learning/batches.py",
    "seeds",
    "text.py",
    "warmup",
    "worlds",
    "search/analyzer.py",
    "search/bm25.py",
)
_SOURCES = (".py", ".txt", ".toml")


def place_of(config: Config, index: Path, made_from: Mapping[str, Any]) -> Path:
    """Where a model is kept that was taught with these settings and whatever else it is made from."""
    return Path(config.warmup.cache).expanduser() / "warmup" / fingerprint(config, index, made_from)


def fingerprint(config: Config, index: Path, made_from: Mapping[str, Any]) -> str:
    """Changes with everything that the model is made from: settings, documents, this package's own code, torch."""
    digest = hashlib.sha256()
    common = {
        "seed": config.seed,
        "world": config.world.model_dump(),
        "k": config.search.k,
        "agent": config.agent.model_dump(),
        "torch": version("torch"),
        "corpus": None if config.corpus == "world" else read_manifest(index).model_dump(mode="json"),
        **made_from,
    }
    digest.update(json.dumps(common, sort_keys=True).encode())
    package = Path(str(resources.files("ssp")))
    for place in _MADE_BY:
        target = package / place
        files = [target] if target.is_file() else sorted(p for p in target.rglob("*") if p.suffix in _SOURCES)
        for file in files:
            digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:20]


def libraries(config: Config, index: Path, visible: int | None = None, *, natural: bool = False) -> Sequence[Library]:
    """What lessons are made from: siblings of the generated world, or the documents in the index of a corpus.

    Of the documents, only the first `visible` characters. `natural`: with questions as people put them.
    """
    if config.corpus == "world":
        settings = WorldSettings(config.world.articles, config.seed, config.world.richness)
        return WorldLibrary.siblings(settings, SIBLINGS)
    docs = list(Documents(index))
    answers = [one.answer for one in mine(docs)]
    return [ClozeLibrary(docs, answers, open_index(index, compiled=False), visible, natural=natural)]


def dress(config: Config, codec: HfCodec) -> SearchAgent:
    """The agent as which lessons are played: the run's protocol, prompts and budgets, but nobody who samples."""
    protocol, prompts = PROTOCOLS[config.agent.protocol], prompt_set(config.agent.prompts)
    nobody = ScriptedEngine.saying(codec)
    return SearchAgent(nobody, codec, StaticSearcher({}), protocol, prompts, Budget.of(config.agent), config.search.k)
