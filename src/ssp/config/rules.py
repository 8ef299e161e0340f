"""Settings that do not go together: what no single one of them can know."""

from ssp.config.sections import Config
from ssp.errors import ConfigError


def check_whole(config: Config) -> None:
    """What no single setting can know."""
    shares = config.game.hops
    if shares is not None and (min(shares) < 0.0 or sum(shares) <= 0.0):
        raise ConfigError("game.hops takes shares, such as [0.5, 0.3, 0.2]: none below 0, and not all 0")
    asked = max((hops for hops, share in enumerate(shares or (), 1) if share > 0.0), default=0)
    if config.corpus == "world" and asked > config.world.hops:
        raise ConfigError(f"game.hops asks for {asked} hops, world.hops has {config.world.hops}: change one of them")
    if config.game.proposer == "start" and config.game.roles != "solver":
        raise ConfigError("game.proposer=start: a frozen proposer can't learn; set game.roles=solver")
    if (config.search.kind == "http") != (config.search.url is not None):
        raise ConfigError("search.kind=http and search.url=ADDRESS go together: set both or neither")
    if config.verify.reader == "service" and (config.reader.url is None or config.reader.model is None):
        raise ConfigError("verify.reader=service needs reader.url=ADDRESS and reader.model=NAME")
    if config.corpus == "service" and (config.search.kind != "http" or config.seeds is None):
        raise ConfigError("corpus=service: nothing is read here, so set search.kind=http, search.url and seeds=FILE")
    if config.search.kind == "http" and config.model.path == "tiny" and config.corpus != "world":
        raise ConfigError("model.path=tiny is taught from an index of the corpus: leave search.kind at bm25")
    if config.warmup.lessons and config.search.kind == "http":
        raise ConfigError("warmup.lessons are made from an index of the corpus: leave search.kind at bm25")
    if config.judge.kind == "llm" and (config.judge.url is None or config.judge.model is None):
        raise ConfigError("judge.kind=llm needs judge.url=ADDRESS and judge.model=NAME")
    if config.lora.rank and config.learner.frozen:
        raise ConfigError("with adapters (lora.rank) nothing else learns: leave learner.frozen empty")
    if (config.engine.urls or config.engine.replicas) and config.engine.kind != "vllm":
        raise ConfigError("engine.urls and engine.replicas are for engine.kind=vllm: set that too")
    if config.engine.urls and config.engine.replicas:
        raise ConfigError("engine.urls names servers that run, engine.replicas starts some: set one of them")
    if config.credit.proposer == "grpo" and config.game.proposals == 1:
        raise ConfigError("credit.proposer=grpo compares the proposals for one seed: set game.proposals to 2 or more")
    if config.credit.solver == "grpo" and config.game.attempts == 1:
        raise ConfigError("credit.solver=grpo compares the attempts at one problem: set game.attempts to 2 or more")
