"""Opening what a person names, a run or a model, as an agent that can play."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ssp.agents.agent import Budget, SearchAgent
from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import PROTOCOLS
from ssp.chat import ChatModel
from ssp.config import Config, load_config
from ssp.errors import ConfigError, DataError, ReaderError
from ssp.game.reader import AgentReader, ChatReader, Reader
from ssp.game.step import Game
from ssp.game.verify import Verifier
from ssp.judges.llm import LlmJudge
from ssp.judges.open import open_judge
from ssp.models.catalogue import KNOWN
from ssp.models.find import find_model, is_hub_name
from ssp.protocols import Searcher
from ssp.runs.seeds import seeds_file
from ssp.search.http import HttpSearcher
from ssp.search.index import open_index


@dataclass(frozen=True, slots=True)
class Player:
    """An agent, what it was opened from, and the seeds of its run's world, if there is one."""

    agent: SearchAgent
    config: Config
    model: Path
    seeds: Path | None
    first: Path | None = None  # the model that the run began with

    @property
    def start(self) -> SearchAgent:
        """The same agent as it was at the start of its run; a model without a run has no other."""
        return make_agent(self.config, self.first, self.agent.searcher, frozen=True) if self.first else self.agent


def is_run(path: Path) -> bool:
    return (path / "checkpoints").is_dir()


def open_player(
    target: str, overrides: Sequence[str] = (), *, index: Path | None = None, url: str | None = None
) -> Player:
    """A run directory brings its settings, its index and its newest model; a model needs an index or a service."""
    config = load_config(overrides=overrides)
    path = Path(target).expanduser()
    if is_run(path):
        if overrides:
            raise ConfigError(f"{path} is a run, which brings its own settings; --set is for models without one")
        config = read_run_config(path)
        searcher = _searcher(index, url) if index or url else run_searcher(config, path)
        seeds = seeds_file(path)
        agent = make_agent(config, newest_model(path), searcher)
        first = sorted(path.glob("checkpoints/step-*/model"))[0]
        return Player(agent, config, newest_model(path), seeds if seeds.exists() else None, first)
    if path.exists() and not (path / "config.json").exists():
        raise DataError(f"{path} is neither a run (no checkpoints/) nor a model (no config.json)")
    if not path.exists() and target not in KNOWN and not is_hub_name(target):
        raise DataError(f"there is no run and no model at {target}")
    if index is None and url is None:
        raise ConfigError("a model needs something to search: --index DIR, or --search URL")
    searcher, model = _searcher(index, url), find_model(target)
    return Player(make_agent(config, model, searcher), config, model, None)


def make_agent(config: Config, model: Path, searcher: Searcher, *, frozen: bool = False) -> SearchAgent:
    """The agent of a configuration around a model; a frozen one never gets other weights."""
    from ssp.engines.open import open_engine

    engine, codec = open_engine(config, model, frozen=frozen)
    protocol, prompts = PROTOCOLS[config.agent.protocol], prompt_set(config.agent.prompts)
    return SearchAgent(engine, codec, searcher, protocol, prompts, Budget.of(config.agent), config.search.k)


def make_game(config: Config, agent: SearchAgent, first: Path | None) -> Game:
    """The game of a configuration. Who reads and who proposes is the agent, or the model that the run began with."""
    wanted = "start" in (config.verify.reader, config.game.proposer)
    frozen = make_agent(config, first, agent.searcher, frozen=True) if wanted and first is not None else agent
    proposer = frozen if config.game.proposer == "start" else agent
    judge = open_judge(config.judge)
    services = [judge.chat] if isinstance(judge, LlmJudge) else []
    reader: Reader = AgentReader(frozen if config.verify.reader == "start" else agent)
    if config.verify.reader == "service":
        reader = _chat_reader(config)
        services.append(reader.chat)
    return Game(agent, Verifier(reader, config.verify, judge), config, proposer, judge, tuple(services))


def _chat_reader(config: Config) -> ChatReader:
    """A model that was never warmed up has to be told what to do."""
    told = prompt_set("en" if config.agent.prompts == "brief" else config.agent.prompts)
    return ChatReader(ChatModel.of(config.reader, ReaderError), told, PROTOCOLS[config.agent.protocol])


def newest_model(run: Path) -> Path:
    """The model of the latest checkpoint."""
    models = sorted(run.glob("checkpoints/step-*/model"))
    if not models:
        raise DataError(f"{run} has no checkpoint yet; train it with: ssp train")
    return models[-1]


def read_run_config(run: Path) -> Config:
    try:
        return Config.model_validate_json((run / "config.json").read_bytes())
    except FileNotFoundError:
        raise DataError(f"there is no run at {run} (no config.json)") from None
    except OSError as error:
        raise DataError(f"{run} has no readable config.json: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{run}/config.json is not of this version of ssp: {where}: {first['msg']}") from None


def run_searcher(config: Config, run: Path) -> Searcher:
    """What a run searches with: its index, or the service that its configuration names."""
    if config.search.url is not None:
        return HttpSearcher(config.search.url)
    return open_index(run / "index", compiled=False)


def _searcher(index: Path | None, url: str | None) -> Searcher:
    if url is not None:
        if index is not None:
            raise ConfigError("--index and --search exclude each other")
        return HttpSearcher(url)
    assert index is not None
    return open_index(index, compiled=False)
