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
    1: "67324759ddbc7827c872434ec45ec35a",
    2: "a18234d1fdb8cfbe1ad7a73782c23d76",
    3: "621b4ade8139b36c2836d4f155851c2e",
}


@pytest.mark.parametrize("richness", GOLDEN)
def test_bytes_of_a_small_world(richness: int, tmp_path: Path) -> None:
    write_world(WorldSettings(articles=200, seed=0, richness=richness), tmp_path / "world")
    digest = hashlib.blake2b(digest_size=16)
    for name in ("corpus.jsonl", "seeds.jsonl", "questions.jsonl", "world.json"):
        digest.update((tmp_path / "world" / name).read_bytes())
    assert digest.hexdigest() == GOLDEN[richness]
