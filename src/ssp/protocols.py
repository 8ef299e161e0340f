"""The seams: small protocols behind which implementations can be exchanged.

A seam has at most five methods, and a scripted fake of each ships with the package (for search:
`ssp.search.static`). Contract tests in tests/contract run against every implementation.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ssp.types import Completion, Hit, Sampling

if TYPE_CHECKING:
    import torch


class Searcher(Protocol):
    """Finds documents.

    For each query, in order, a list of at most k hits: ranks from 1, scores falling, equal scores in corpus order,
    no document twice. A query that matches nothing (an empty one, say) has an empty list. Raises SearchError when
    it can't answer; never invents an empty answer for an outage.
    """

    async def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]: ...

    async def close(self) -> None: ...


@runtime_checkable
class LocalSearcher(Searcher, Protocol):
    """A searcher that computes in this process. `search_now` is the same call without an event loop."""

    def search_now(self, queries: Sequence[str], k: int) -> list[list[Hit]]: ...


class Monitor(Protocol):
    """Follows a run from outside: a tracker. It may fail; whoever calls it minds that (`ssp.monitors.open`)."""

    def log(self, step: int, metrics: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


class Judge(Protocol):
    """Says whether a prediction means the same as an answer, or as one of several that are right.

    Raises JudgeError when it can't tell; never makes a verdict of an outage.
    """

    async def same(self, question: str, answer: str | Sequence[str], prediction: str) -> bool: ...

    async def close(self) -> None: ...


class Codec(Protocol):
    """Text to tokens and back. All tokens of a trajectory come from here or from an engine, never from both."""

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens with which the model ends what it says."""
        ...

    def encode(self, text: str) -> tuple[int, ...]:
        """Text of our own: tags and special tokens in it become what they say."""
        ...

    def encode_untrusted(self, text: str) -> tuple[int, ...]:
        """Text of documents, questions, answers: no special token and no tag can arise from it."""
        ...

    def decode(self, token_ids: Sequence[int]) -> str: ...

    def chat(self, message: str) -> str:
        """A user's message as the model expects it, up to where the model's own text begins."""
        ...


class Engine(Protocol):
    """Samples from the policy.

    One completion for each prompt, in order. Requests of many callers may be computed together; what is sampled for
    one depends on its prompt, its sampling settings and the weights, up to floating-point rounding. Raises
    EngineError when a request can't be served. `load` takes effect for requests that come after it; requests under
    way keep the version that they began with or are finished first.
    """

    @property
    def policy_version(self) -> int: ...

    async def generate(self, prompts: Sequence[Sequence[int]], sampling: Sequence[Sampling]) -> list[Completion]: ...

    async def load(self, weights: "Mapping[str, torch.Tensor]", version: int) -> None: ...

    async def close(self) -> None: ...
