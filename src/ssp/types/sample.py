"""What the learner sees: flat arrays of equal length."""

import math
from dataclasses import dataclass

from ssp.types.check import require
from ssp.types.trajectory import Role


@dataclass(frozen=True, slots=True)
class Sample:
    """One trajectory for the learner. The learner knows nothing of games: only per-token advantages.

    >>> Sample(
    ...     id="t1", role=Role.SOLVER, group="p1", policy_version=3,
    ...     token_ids=(5, 9, 17), mask=(False, False, True), logprobs=(0.0, 0.0, -0.7),
    ...     advantages=(0.0, 0.0, 0.5),
    ... ).trained_tokens
    1
    """

    id: str
    role: Role
    group: str
    policy_version: int
    token_ids: tuple[int, ...]
    mask: tuple[bool, ...]
    logprobs: tuple[float, ...]
    advantages: tuple[float, ...]

    def __post_init__(self) -> None:
        lengths = {len(self.token_ids), len(self.mask), len(self.logprobs), len(self.advantages)}
        require(len(lengths) == 1, f"sample {self.id}: arrays of unequal length {sorted(lengths)}")
        require(not self.mask or not self.mask[0], f"sample {self.id}: the first token can't be a sampled one")
        for masked, logprob, advantage in zip(self.mask, self.logprobs, self.advantages, strict=True):
            require(math.isfinite(logprob) and math.isfinite(advantage), f"sample {self.id}: not finite")
            require(masked or (logprob == 0.0 and advantage == 0.0), f"sample {self.id}: credit outside the mask")

    @property
    def trained_tokens(self) -> int:
        return sum(self.mask)
