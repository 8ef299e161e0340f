"""The configuration tree: sources, order, refusals."""

from pathlib import Path

import pytest

from ssp.config import load_config, preset_names, settings, to_toml
from ssp.errors import ConfigError


def test_later_sources_win(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("seed = 5\n[world]\narticles = 300\nhops = 3\n")
    config = load_config(file, overrides=["world.articles=400"])
    assert (config.seed, config.world.articles, config.world.hops) == (5, 400, 3)


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_valid_and_round_trip(name: str, tmp_path: Path) -> None:
    config = load_config(preset=name)
    file = tmp_path / "again.toml"
    file.write_text(to_toml(config))
    assert load_config(file) == config


def test_names_that_others_rely_on_exist() -> None:
    keys = {key for key, _ in settings()}
    assert {"seed", "steps", "preset", "corpus", "model.path", "engine.kind"} <= keys


def test_every_setting_is_described() -> None:
    assert all(field.description for _, field in settings())


def test_any_text_survives_as_toml(tmp_path: Path) -> None:
    config = load_config(overrides=['corpus="\U0001f4da ü \\" \\\\ x.jsonl"'])
    file = tmp_path / "again.toml"
    file.write_text(to_toml(config), encoding="utf-8")
    assert load_config(file) == config


def test_values_need_no_quotes() -> None:
    assert load_config(overrides=["corpus=some/folder"]).corpus == "some/folder"
    assert load_config(overrides=['corpus="some/folder"']).corpus == "some/folder"


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("world.article=3", r"unknown setting 'world.article'; did you mean 'world.articles'\?"),
        ("wrld.articles=3", r"did you mean 'world.articles'\?"),
        ("zzz=1", "lists all settings"),
        ("world.articles=many", "world.articles: .*valid integer"),
        ("world.articles=3", "world.articles: .*greater than or equal to 100"),
        ("world.richness=7", "world.richness"),
        ("seed=-1", "seed"),
        ("steps=1.5", "steps"),
        ("engine.kind=magic", "engine.kind"),
        ("articles", "key=value"),
        ("=3", "key=value"),
        ("world=3", "setting world"),
        ("seed.x=1", "unknown setting 'seed.x'"),
        ("corpus=", "setting corpus"),
        ("preset=none", "no preset 'none'; there is: one-gpu, paper, smol, tiny"),
        ("search.url=http://localhost:1", "set both or neither"),
        ("search.kind=http", "set both or neither"),
    ],
)
def test_mistakes_are_named(override: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        load_config(overrides=[override])


def test_broken_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no configuration file"):
        load_config(tmp_path / "absent.toml")
    with pytest.raises(ConfigError, match="can't read"):
        load_config(tmp_path)
    broken = tmp_path / "broken.toml"
    broken.write_text("seed = = 1")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(broken)


def test_the_tree_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_config().seed = 3  # type: ignore[misc]
