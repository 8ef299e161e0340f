"""What is said to libraries through the environment, or to the C library, since there is no other way.

One place, and only here. It has to be said before the library is loaded. What the user has set stays.
"""

import ctypes
import os
import platform
import sys

_SPIN = "2000"
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # as <malloc.h> numbers them
_KEEP = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 2**31 - 1, _TOP_PAD: 64 << 20}


def wait_calmly() -> None:
    """Let OpenMP's threads sleep soon after their work is done, instead of spinning for milliseconds.

    While they spin they take the cores from the attention kernel and from search, which use threads of their own.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", _SPIN)


def keep_memory() -> None:
    """Let tensors lie on large pages, and let the C library keep what is freed.

    Otherwise every large tensor is new memory, page by page: on a CPU, an eighth of an update (docs/log.md).
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for parameter, value in _KEEP.items():
            library.mallopt(parameter, value)


def quiet_vllm() -> None:
    """vLLM tells what goes wrong, and tells it where it does not mix with answers."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def vllm_server_environment() -> dict[str, str]:
    """For a server of vLLM that takes new weights while it runs, which it calls development mode."""
    return {**os.environ, "VLLM_LOGGING_LEVEL": "WARNING", "VLLM_SERVER_DEV_MODE": "1"}


_QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_NO_USAGE_STATS": "1"}
