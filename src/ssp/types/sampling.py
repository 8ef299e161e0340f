"""What an engine is asked for, and what it gives back."""

from dataclasses import dataclass
from enum import StrEnum

from ssp.types.check import require


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one request is sampled. Temperature 0 is greedy. The sample depends on `seed`, not on its neighbours.

    >>> Sampling(max_tokens=64, seed=7, stop=("</search>", "</answer>")).temperature
    1.0
    """

    max_tokens: int
    seed: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self.max_tokens > 0, f"max_tokens must be positive, got {self.max_tokens}")
        require(self.seed >= 0, f"seeds are not negative, got {self.seed}")
        require(0.0 <= self.temperature < 100.0, f"temperature must be between 0 and 100, got {self.temperature}")
        require(0.0 < self.top_p <= 1.0, f"top_p must be in (0, 1], got {self.top_p}")
        require(all(self.stop), "a stop string must not be empty")


class StopReason(StrEnum):
    """Why generation ended."""

    STOP = "stop"  # a stop string was completed
    END = "end"  # the model's own end token
    LENGTH = "length"  # max_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """Sampled tokens with their log-probabilities, under the distribution at the sampling temperature.

    Greedy sampling reports the log-probabilities of temperature 1. Top-p does not change what is reported. The token
    that completed a stop string is kept whole, also where it says more than the stop string; so is the end token.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    reason: StopReason
    policy_version: int

    def __post_init__(self) -> None:
        require(len(self.token_ids) == len(self.logprobs), "one log-probability per token")
        require(len(self.token_ids) > 0, "a completion has at least one token")
