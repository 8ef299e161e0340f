"""The judge of a configuration."""

from pathlib import Path

from ssp.chat import ChatModel
from ssp.config import JudgeConfig
from ssp.errors import JudgeError
from ssp.judges.exact import ExactJudge
from ssp.judges.llm import LlmJudge
from ssp.protocols import Judge


def open_judge(config: JudgeConfig) -> Judge:
    if config.kind == "exact":
        return ExactJudge()
    cache = Path(config.cache).expanduser() if config.cache else None
    return LlmJudge(ChatModel.of(config, JudgeError), cache=cache)
