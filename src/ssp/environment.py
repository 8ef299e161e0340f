"""What is said to libraries through the environment, since there is no other way. One place, and only here.

It has to be said before the library is loaded. What the user has set stays.
"""

import os

_SPIN = "2000"


def wait_calmly() -> None:
    """Let OpenMP's threads sleep soon after their work is done, instead of spinning for milliseconds.

    While they spin they take the cores from the attention kernel and from search, which use threads of their own.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", _SPIN)


def quiet_vllm() -> None:
    """vLLM tells what goes wrong, and tells it where it does not mix with answers."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def vllm_server_environment() -> dict[str, str]:
    """For a server of vLLM that takes new weights while it runs, which it calls development mode."""
    return {**os.environ, "VLLM_LOGGING_LEVEL": "WARNING", "VLLM_SERVER_DEV_MODE": "1"}


_QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_NO_USAGE_STATS": "1"}
