"""Fixtures that several tiers share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ssp.worlds.world import World, WorldSettings
from ssp.worlds.write import write_world

os.environ.setdefault("HF_HUB_OFFLINE", "1")
settings.register_profile("ssp", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("ssp")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """Real corpora and question sets. They are not part of the project."""
    folder = Path(os.environ.get("SSP_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set SSP_TEST_DATA to a folder with corpus/ and qa/")
    return folder


@pytest.fixture(scope="session")
def small_world() -> World:
    return World(WorldSettings(articles=400, seed=3))


@pytest.fixture(scope="session")
def world_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default world, as `ssp world` writes it."""
    out = tmp_path_factory.mktemp("worlds") / "default"
    write_world(WorldSettings(), out)
    return out
