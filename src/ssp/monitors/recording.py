"""A monitor for tests and examples: keeps what it is told, and fails when it is told to."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Recording:
    """`fails_at` is the step from which on logging raises."""

    fails_at: int | None = None
    logged: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    closed: bool = False

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        if self.fails_at is not None and step >= self.fails_at:
            raise ConnectionError("the tracker is gone")
        self.logged.append((step, dict(metrics)))

    def close(self) -> None:
        self.closed = True
