"""The one configuration tree: defaults, then a preset, then a TOML file, then `--set key=value`.

Unknown keys are refused with the nearest valid key named. The tree is frozen; what a run was made from is what
`--dry-run` prints.

>>> load_config(overrides=["world.articles=500"]).world.articles
500
>>> load_config(overrides=["world.article=500"])
Traceback (most recent call last):
ssp.errors.ConfigError: unknown setting 'world.article'; did you mean 'world.articles'?
"""

from ssp.config.load import load_config, preset_names, settings, to_toml
from ssp.config.sections import (
    DEFAULT_PRESET,
    Action,
    AgentConfig,
    CheckpointConfig,
    Config,
    CreditConfig,
    EngineConfig,
    EvalConfig,
    GameConfig,
    HealthConfig,
    JudgeConfig,
    LearnerConfig,
    LoraConfig,
    Method,
    ModelConfig,
    PoolConfig,
    ReaderConfig,
    RewardConfig,
    SearchConfig,
    Section,
    ServiceConfig,
    VerifyConfig,
    WarmupConfig,
    WorldConfig,
)

__all__ = [
    "DEFAULT_PRESET",
    "Action",
    "AgentConfig",
    "CheckpointConfig",
    "Config",
    "CreditConfig",
    "EngineConfig",
    "EvalConfig",
    "GameConfig",
    "HealthConfig",
    "JudgeConfig",
    "LearnerConfig",
    "LoraConfig",
    "Method",
    "ModelConfig",
    "PoolConfig",
    "ReaderConfig",
    "RewardConfig",
    "SearchConfig",
    "Section",
    "ServiceConfig",
    "VerifyConfig",
    "WarmupConfig",
    "WorldConfig",
    "load_config",
    "preset_names",
    "settings",
    "to_toml",
]
