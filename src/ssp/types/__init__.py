"""The vocabulary: frozen values that the game, the agents and the records speak in. See docs/architecture.md."""

from ssp.types.documents import Doc, Hit, SearchCall
from ssp.types.episode import Attempt, Episode, ErrorRecord
from ssp.types.problem import Check, Outcome, Problem, Verdict
from ssp.types.sample import Sample
from ssp.types.sampling import Completion, Sampling, StopReason
from ssp.types.seed import Seed
from ssp.types.state import PoolEntry, RunState
from ssp.types.trajectory import Role, Segment, SegmentKind, Status, Trajectory

__all__ = [
    "Attempt", "Check", "Completion", "Doc", "Episode", "ErrorRecord", "Hit", "Outcome", "PoolEntry", "Problem", "Role",
    "RunState", "Sample", "Sampling", "SearchCall", "Seed", "Segment", "SegmentKind", "Status", "StopReason",
    "Trajectory", "Verdict",
]  # fmt: skip
