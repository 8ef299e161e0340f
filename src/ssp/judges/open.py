"""The judge of a configuration."""

import os
from pathlib import Path

from ssp.config import JudgeConfig
from ssp.errors import ConfigError
from ssp.judges.exact import ExactJudge
from ssp.judges.llm import LlmJudge
from ssp.protocols import Judge


def open_judge(config: JudgeConfig) -> Judge:
    """The key of a service is read from the variable that the configuration names; it stands in no file."""
    if config.kind == "exact":
        return ExactJudge()
    assert config.url is not None
    assert config.model is not None
    key = os.environ.get(config.key_variable) if config.key_variable else None
    if config.key_variable and not key:
        raise ConfigError(f"the judge's key should be in the variable {config.key_variable}, which is not set")
    return LlmJudge(
        config.url,
        config.model,
        cache=Path(config.cache).expanduser() if config.cache else None,
        concurrency=config.concurrency,
        tokens=config.tokens,
        token=key,
        timeout=config.timeout,
        attempts=config.attempts,
    )
