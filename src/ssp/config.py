"""The one configuration tree: defaults, then a preset, then a TOML file, then `--set key=value`.

Unknown keys are refused with the nearest valid key named. The tree is frozen; what a run was made from is what
`--dry-run` prints.

>>> load_config(overrides=["world.articles=500"]).world.articles
500
>>> load_config(overrides=["world.article=500"])
Traceback (most recent call last):
ssp.errors.ConfigError: unknown setting 'world.article'; did you mean 'world.articles'?
"""

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ssp.errors import ConfigError

DEFAULT_PRESET = "tiny"


class Section(BaseModel):
    """A branch of the tree."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class WorldConfig(Section):
    """The generated world, used when `corpus` is "world"."""

    articles: int = Field(
        2000, ge=100, le=50_000_000, description="Articles in the encyclopedia, held-out ones included."
    )
    richness: Literal[1, 2, 3] = Field(
        1, description="How varied the language is; 1 suits a model of a few million parameters."
    )
    hops: int = Field(4, ge=1, le=4, description="Longest chains among seeds and evaluation questions.")


class SearchConfig(Section):
    """What agents search with."""

    kind: Literal["bm25", "dense", "hybrid", "http"] = Field(
        "bm25", description="Embedded index of this kind, or a service."
    )
    url: str | None = Field(None, description="Address of the search service; only with kind http.")
    k: int = Field(3, ge=1, le=100, description="Documents per search.")
    encoder: str = Field(
        "minilm", description="Sentence encoder of dense and hybrid: a directory, a hub name, or minilm."
    )


class ModelConfig(Section):
    """The policy."""

    path: str = Field(
        "tiny", min_length=1, description="A Hugging Face directory or hub name, or tiny for the generated model."
    )


class WarmupConfig(Section):
    """The stand-in for pre-training that makes the generated model; other models are taken as they are."""

    steps: int = Field(1150, ge=1, description="Optimizer steps of the warm-up.")
    cache: str = Field("~/.cache/ssp", min_length=1, description="Where warmed-up models are kept for later runs.")


class EngineConfig(Section):
    """What samples from the policy."""

    kind: Literal["local", "vllm", "scripted"] = Field("local", description="Which engine samples.")
    cache_gb: float = Field(2.0, gt=0.0, description="Memory for keys and values of the local engine, in GiB.")
    step_tokens: int = Field(4096, ge=16, description="Most tokens that the local engine computes in one step.")


class AgentConfig(Section):
    """How agents talk and what they may use."""

    protocol: Literal["search-r1", "r-search", "tool-call"] = Field("search-r1", description="The dialect of tags.")
    prompts: Literal["en", "zh", "brief"] = Field("en", description="What the roles are told; brief suits tiny models.")
    searches: int = Field(4, ge=0, le=64, description="Searches per trajectory; one more turn follows, without search.")
    turn_tokens: int = Field(512, ge=1, description="Most tokens sampled in one turn.")
    response_tokens: int = Field(4096, ge=1, description="Most tokens after the prompt, sampled and observed together.")
    observation_tokens: int = Field(768, ge=1, description="Most tokens of one search result, over its documents.")
    corrections: int = Field(1, ge=0, le=8, description="How often an unreadable action is answered with a hint.")


class Config(Section):
    """Everything a run is made from."""

    preset: str = Field(DEFAULT_PRESET, description="The preset that this configuration started from.")
    seed: int = Field(0, ge=0, lt=2**63, description="All randomness of the run is derived from it.")
    steps: int = Field(60, ge=0, description="Self-play steps.")
    corpus: str = Field(
        "world", min_length=1, description='What is searched: "world" (generated), or a corpus file or folder.'
    )
    world: WorldConfig = WorldConfig()
    search: SearchConfig = SearchConfig()
    model: ModelConfig = ModelConfig()
    warmup: WarmupConfig = WarmupConfig()
    engine: EngineConfig = EngineConfig()
    agent: AgentConfig = AgentConfig()


def load_config(file: Path | None = None, *, preset: str | None = None, overrides: Sequence[str] = ()) -> Config:
    """The resolved configuration. Later sources win: preset, file, overrides."""
    from_file = _read_toml(file) if file is not None else {}
    from_sets = _parse_overrides(overrides)
    chosen = preset or from_sets.get("preset") or from_file.get("preset") or DEFAULT_PRESET
    merged = _merge(_merge(_read_preset(chosen), from_file), from_sets) | {"preset": chosen}
    _refuse_unknown(merged)
    try:
        config = Config.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"setting {key}: {first['msg']}, got {first['input']!r}") from None
    _check_whole(config)
    return config


def _check_whole(config: Config) -> None:
    """What no single setting can know."""
    if (config.search.kind == "http") != (config.search.url is not None):
        raise ConfigError("search.kind=http and search.url=ADDRESS go together: set both or neither")


def preset_names() -> list[str]:
    folder = resources.files("ssp") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _read_preset(name: object) -> dict[str, Any]:
    if name not in preset_names():
        raise ConfigError(f"no preset {name!r}; there is: {', '.join(preset_names())}")
    return tomllib.loads((resources.files("ssp") / "presets" / f"{name}.toml").read_text(encoding="utf-8"))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"no configuration file at {path}") from None
    except OSError as error:
        raise ConfigError(f"can't read the configuration file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None


def _parse_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set takes key=value, such as world.articles=500; got {override!r}")
        branch: dict[str, Any] = _parse_value(text.strip())
        for part in reversed(key.strip().split(".")):
            branch = {part: branch}
        tree = _merge(tree, branch)
    return tree


def _parse_value(text: str) -> Any:
    """A TOML value; anything else is taken as text, so that paths need no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _refuse_unknown(tree: Mapping[str, Any]) -> None:
    known = dict(settings())
    for key in _leaves(tree):
        if key not in known and not any(name.startswith(f"{key}.") for name in known):
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else "; `ssp train --dry-run` lists all settings"
            raise ConfigError(f"unknown setting {key!r}{hint}")


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def settings(section: type[BaseModel] = Config, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All settings as (dotted key, pydantic field), in order."""
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from settings(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def to_toml(config: Config) -> str:
    """The configuration as TOML that `load_config` reads back; settings without a value are named in a comment."""
    tree = config.model_dump()
    scalars = {key: value for key, value in tree.items() if not isinstance(value, dict)}
    sections = [(key, value) for key, value in tree.items() if isinstance(value, dict)]
    blocks = [_toml_lines(scalars), *(f"[{name}]\n{_toml_lines(section)}" for name, section in sections)]
    return "\n\n".join(blocks) + "\n"


def _toml_lines(values: Mapping[str, Any]) -> str:
    return "\n".join(
        f"# {key} is not set" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in values.items()
    )
