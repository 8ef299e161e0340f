"""Randomness derived from names, never from global state or from the order of events.

A run has one seed. Whoever needs randomness derives a key from that seed and from what the randomness is
for, such as `derive(seed, "noise-docs", step, episode_id)`. Two calls with the same parts give the same key
on every machine and in every order of completion, which is what makes a resumed run equal to an
uninterrupted one.

>>> derive(0, "solve", 3, "p17") == derive(0, "solve", 3, "p17")
True
>>> derive(0, "solve", 3, "p17") == derive(0, "solve", 31, "p7")
False
"""

import hashlib
import random

import numpy as np

Part = int | str


def derive(seed: int, *parts: Part) -> int:
    """A 63-bit key for the given purpose. Parts are length-prefixed, so ("a", "bc") differs from ("ab", "c")."""
    digest = hashlib.blake2b(digest_size=8)
    for part in (seed, *parts):
        encoded = f"{type(part).__name__}:{part}".encode()
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return int.from_bytes(digest.digest(), "big") >> 1


def python_random(seed: int, *parts: Part) -> random.Random:
    """A standard-library generator for choices and shuffles."""
    return random.Random(derive(seed, *parts))


def numpy_random(seed: int, *parts: Part) -> np.random.Generator:
    """A NumPy generator for arrays. What it draws may change with NumPy's version, which constraints.txt pins."""
    return np.random.Generator(np.random.PCG64(derive(seed, *parts)))
