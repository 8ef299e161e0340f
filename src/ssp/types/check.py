"""The one-line invariant check that the core types share."""


def require(condition: bool, message: str) -> None:
    """Raise ValueError unless the invariant holds. A violation is a bug, not a user's mistake."""
    if not condition:
        raise ValueError(message)
