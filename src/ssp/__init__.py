"""Search Self-Play: train deep-search agents without question-answer labels.

The package is used through its command, `ssp`, and through its modules, which docs/architecture.md lists.
Nothing heavy is imported here: torch, numba and the web stack load only where they are used.
"""

__version__ = "0.1.0"
