"""Settings from presets, files and the command line, and back to TOML."""

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ssp.config.rules import check_whole
from ssp.config.sections import DEFAULT_PRESET, Config
from ssp.errors import ConfigError


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
    check_whole(config)
    return config


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
