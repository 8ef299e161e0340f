"""Where to look: for what a note copies from documents, the places that it should be copied from.

A model this small finds out late, and sometimes never, that what it is to say next stands somewhere before. In lessons
it is known where, so the heads that the circuits are laid into are told (`ssp.warmup.circuits`): the one that reads
what is said of something, the one that finds where something is mentioned, and the one that reads how two are linked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from ssp.protocols import Codec
from ssp.warmup.circuits import GROUPS, HEADS, LINKS, LOOKUPS, MENTIONS, SAME_NAMES

_NEAR = 8  # tokens within which two names of a sentence belong together


@dataclass(frozen=True, slots=True)
class Look:
    """From the token at `place`, this head should look at one of these places."""

    head: int
    place: int
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The tokens by which notes and sentences are put together (see `ssp.warmup.behaviours`)."""

    said: int  # "The mayor of Oakmere is" …
    found: int  # "Mira Dolven," …
    stop: int
    note: int  # where notes begin

    @classmethod
    def of(cls, codec: Codec) -> "Marks":
        said, found, stop, note = (codec.encode(text)[-1] for text in ("it is", "it,", "it.", "<think>"))
        return cls(said, found, stop, note)


def looks(ids: Sequence[int], taught: Sequence[bool], marks: Marks) -> tuple[Look, ...]:
    """All looks of a lesson that have somewhere to go."""
    found = [look for place in range(2, len(ids) - 1) for look in _looks_at(place, ids, taught, marks)]
    return tuple(look for look in found if look.at)


def _looks_at(place: int, ids: Sequence[int], taught: Sequence[bool], marks: Marks) -> Iterator[Look]:
    if not (taught[place] and taught[place + 1]):
        return
    before, after = ids[place - 1], ids[place + 1]
    given = [q for q in range(1, place) if not taught[q]]
    if ids[place] == marks.said:
        yield Look(SAME_NAMES, place, tuple(q for q in given if ids[q] == after and _near(ids, q, before, marks.stop)))
    elif ids[place] == marks.found:
        mentioned = (q for q in given if ids[q - 1] == before and _near(ids, q - 1, after, marks.stop))
        yield Look(MENTIONS, place, tuple(mentioned))
        target = ids[_rfind(ids, marks.note, place) + 1]
        says = _find(ids, marks.stop, place) + 1  # … "Oakmere. The"
        if says < len(ids) - 1 and taught[says]:
            yield Look(LINKS, says, tuple(q for q in given if ids[q] == target and _near(ids, q, after, marks.stop)))


def _near(ids: Sequence[int], end: int, wanted: int, stop: int) -> bool:
    """Whether a token stands shortly before, in the same sentence."""
    for place in range(end - 1, max(-1, end - 1 - _NEAR), -1):
        if ids[place] in (stop, wanted):
            return ids[place] == wanted
    return False


def _find(ids: Sequence[int], token: int, begin: int) -> int:
    return next((place for place in range(begin, len(ids)) if ids[place] == token), len(ids))


def _rfind(ids: Sequence[int], token: int, end: int) -> int:
    return next((place for place in range(end - 1, -1, -1) if ids[place] == token), 0)


class Gaze:
    """Where the lookup layer of a model looks. Catches what its attention is given in each forward pass."""

    def __init__(self, model: PreTrainedModel) -> None:
        base: Any = model.base_model
        self._attention = base.layers[LOOKUPS].self_attn
        self._hook = self._attention.register_forward_pre_hook(self._catch, with_kwargs=True)
        self._hidden = self._cos = self._sin = torch.empty(0)

    def _catch(self, module: torch.nn.Module, args: Any, given: Any) -> None:
        self._hidden = given["hidden_states"]
        self._cos, self._sin = given["position_embeddings"]

    def close(self) -> None:
        self._hook.remove()

    def loss(self, rows: Sequence[Sequence[Look]]) -> Tensor:
        """How little the heads look where they should in the last pass: the mean negative logarithm of the share."""
        groups = [
            (row, head, [look for look in some if look.head == head])
            for row, some in enumerate(rows)
            for head in sorted({look.head for look in some})
        ]
        return -torch.cat([self._shares(*group) for group in groups]).mean() if groups else torch.zeros(())

    def _shares(self, row: int, head: int, some: Sequence[Look]) -> Tensor:
        """For looks of one row and head, the logarithm of the share of attention that goes to the right places."""
        size = self._attention.head_dim
        group = head // (HEADS // GROUPS)
        places = torch.tensor([look.place for look in some])
        end = int(places.max()) + 1
        hidden, cos, sin = self._hidden[row, :end], self._cos[0, :end], self._sin[0, :end]
        query: Tensor = hidden[places] @ self._attention.q_proj.weight[head * size : (head + 1) * size].T
        keys: Tensor = hidden @ self._attention.k_proj.weight[group * size : (group + 1) * size].T
        scores: Tensor = _turned(query, cos[places], sin[places]) @ _turned(keys, cos, sin).T / size**0.5
        scores = scores.masked_fill(torch.arange(end) > places[:, None], -torch.inf)
        elsewhere = torch.ones(scores.shape, dtype=torch.bool)
        for number, look in enumerate(some):
            elsewhere[number, list(look.at)] = False
        right = torch.logsumexp(scores.masked_fill(elsewhere, -torch.inf), dim=1)
        return right - torch.logsumexp(scores, dim=1)


def _turned(vectors: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions, as the model applies them."""
    a, b = vectors.chunk(2, dim=-1)
    return vectors * cos + torch.cat([-b, a], dim=-1) * sin
