"""How threads wait for work. One place, since it has to be said before torch is loaded."""

import os

_SPIN = "2000"


def wait_calmly() -> None:
    """Let OpenMP's threads sleep soon after their work is done, instead of spinning for milliseconds.

    While they spin they take the cores from the attention kernel and from search, which use threads of their own.
    What the user has set stays.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", _SPIN)
