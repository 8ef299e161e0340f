"""The bytes of small worlds, pinned: runs that were recorded on one machine must mean the same on another.

If a change to the world is meant, run this test, read the new hashes from its message, and say in the changelog that
worlds have changed.
"""

import hashlib
from pathlib import Path

import pytest

from ssp.worlds.world import WorldSettings
from ssp.worlds.write import write_world

GOLDEN = {
    1: "a56103011265e96294681a04aac4ff44",
    2: "9ab69423f61d122b25118b467617fd9e",
    3: "6a6f70c0d3a7394ca2202dcf5b5a36a2",
}


@pytest.mark.parametrize("richness", GOLDEN)
def test_bytes_of_a_small_world(richness: int, tmp_path: Path) -> None:
    write_world(WorldSettings(articles=200, seed=0, richness=richness), tmp_path / "world")
    digest = hashlib.blake2b(digest_size=16)
    for name in ("corpus.jsonl", "seeds.jsonl", "questions.jsonl", "world.json"):
        digest.update((tmp_path / "world" / name).read_bytes())
    assert digest.hexdigest() == GOLDEN[richness]
