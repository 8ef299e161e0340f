"""What is counted while a model learns."""

from dataclasses import dataclass, field

from torch import Tensor

from ssp.config import LearnerConfig
from ssp.learning.objective import Rows


@dataclass(slots=True)
class Tally:
    """Sums for metrics. Mismatch is that of the first update, before which sampler and learner have equal weights."""

    loss: float = 0.0
    tokens: int = 0
    entropy: float = 0.0
    divergence: float = 0.0
    clipped: int = 0
    mismatch: float = 0.0
    first_tokens: int = 0
    norms: list[float] = field(default_factory=list)
    rate: float = 0.0

    def add_tokens(
        self,
        rows: Rows,
        loss: Tensor,
        now: Tensor,
        entropy: Tensor,
        divergence: Tensor | None,
        config: LearnerConfig,
    ) -> None:
        self.loss += loss.item()
        self.tokens += len(now)
        self.entropy += entropy.sum().item()
        ratio = (now - rows.logprobs).exp()
        up = (ratio > 1.0 + config.clip_high) & (rows.advantages > 0)
        down = (ratio < 1.0 - config.clip_low) & (rows.advantages < 0)
        self.clipped += int((up | down).sum().item())
        if divergence is not None:
            self.divergence += divergence.detach().sum().item()
        if not self.norms:
            self.mismatch += (now - rows.logprobs).abs().sum().item()
            self.first_tokens += len(now)

    def add_update(self, norm: float, rate: float) -> None:
        self.norms.append(norm)
        self.rate = rate

    def metrics(self) -> dict[str, float]:
        if not self.tokens:
            return {"updates": 0.0, "tokens": 0.0}
        return {
            "updates": float(len(self.norms)),
            "tokens": float(self.tokens),
            "loss": self.loss / len(self.norms),
            "entropy": self.entropy / self.tokens,
            "kl": self.divergence / self.tokens,
            "clipped": self.clipped / self.tokens,
            "mismatch": self.mismatch / self.first_tokens,
            "gradient": sum(self.norms) / len(self.norms),
            "learning_rate": self.rate,
        }
