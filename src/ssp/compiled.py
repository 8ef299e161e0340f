"""Compiling loops, in one place."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(*, fastmath: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function, and keep the machine code on disk where there is a place that can be written to.

    It releases the interpreter's lock. With `fastmath`, sums may be reordered; equal inputs still give equal bits.
    """

    def compile_it(function: Callable[..., Any]) -> Any:
        try:
            return njit(nogil=True, fastmath=fastmath, cache=True)(function)
        except RuntimeError:  # numba found no place for its cache: compile in every process
            return njit(nogil=True, fastmath=fastmath)(function)

    return compile_it
