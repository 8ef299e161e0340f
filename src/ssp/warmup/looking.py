"""Where to look: for what a note copies from documents, the places that it should be copied from.

A model this small finds out late, and sometimes never, that what it is to say next stands somewhere before. In lessons
it is known where, so the heads that the circuits are laid into are told (`ssp.warmup.circuits`): the one that reads
what is said of something, the one that finds where something is mentioned, and, in the layer after, the one that tells
by which relation, and the one that goes on with what was said before. One more is told to look at how many are left.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedModel

from ssp.protocols import Codec
from ssp.warmup.circuits import GROUPS, HEADS, LOOKUPS, MENTIONS, SAME_NAMES, SAYS_AGAIN, WORDS_BEFORE

_NEAR = 8  # tokens within which two names of a sentence belong together
_RECENT = 24  # tokens within which a name that is said again was said


class Head(NamedTuple):
    layer: int
    number: int


READS, FINDS = (Head(LOOKUPS, number) for number in (SAME_NAMES, MENTIONS))
GOES_ON, COUNTS, TELLS = (Head(LOOKUPS + 1, number) for number in (SAYS_AGAIN, 2, WORDS_BEFORE))


@dataclass(frozen=True, slots=True)
class Look:
    """From the token at `place`, this head should look at one of these places."""

    head: Head
    place: int
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The tokens by which notes and sentences are put together (see `ssp.warmup.behaviours`)."""

    counts: tuple[int, ...]  # "2: The mayor of" …
    about: int  # "The mayor of" …
    said: int  # "The mayor of Oakmere is" …
    found: int  # "Mira Dolven, the mayor of" …
    the: int
    stop: int
    note: int  # where notes begin …
    end: int  # … and end
    colon: int

    @classmethod
    def of(cls, codec: Codec) -> "Marks":
        counts = tuple(codec.encode(f"it {number}:")[-2] for number in range(1, 10))
        texts = ("it of", "it is", "it,", "it, the", "it.", "<think>", "</think>", "it:")
        return cls(counts, *(codec.encode(text)[-1] for text in texts))


def looks(ids: Sequence[int], taught: Sequence[bool], marks: Marks) -> tuple[Look, ...]:
    """All looks of a lesson that have somewhere to go."""
    found = (look for place in range(2, len(ids) - 1) for look in _looks_at(place, ids, taught, marks))
    return tuple(look for look in found if look.at)


def _looks_at(place: int, ids: Sequence[int], taught: Sequence[bool], marks: Marks) -> Iterator[Look]:
    if not (taught[place] and taught[place + 1]):
        return
    before, after = ids[place - 1], ids[place + 1]
    if ids[place] == marks.said and marks.about in ids[_sentence(ids, place, marks) : place]:
        read = (q for q in _given(taught, place) if ids[q] == after and _near(ids, q, before, marks.stop))
        yield Look(READS, place, tuple(read))
    elif ids[place] == marks.found and after == marks.the:
        yield from _links(place, ids, taught, marks)
    elif ids[place] == marks.about and after != marks.the:
        again = (q for q in range(place - 1, max(0, place - _RECENT), -1) if ids[q] == after and taught[q])
        yield Look(GOES_ON, place, tuple(again)[:1])  # "The mayor of Oakmere is Mira Dolven. 1: The birthplace of"
    elif ids[place] == marks.stop and (after == marks.end or (place + 2 < len(ids) and ids[place + 2] == marks.colon)):
        yield Look(COUNTS, place, tuple(_last_count(ids, taught, place, marks)))


def _links(comma: int, ids: Sequence[int], taught: Sequence[bool], marks: Marks) -> Iterator[Look]:
    """In "Dunford, the birthplace of Mira Dolven": how the first is linked, and to what."""
    about = _find(ids, marks.about, comma)
    if about + 1 >= len(ids) or not taught[about + 1]:
        return
    first, last, name = ids[_rfind(ids, marks.note, comma) + 1], ids[comma - 1], ids[about + 1]
    given = _given(taught, comma)
    yield Look(TELLS, comma + 1, tuple(q for q in given if ids[q] == first and _near(ids, q, name, marks.stop)))
    yield Look(FINDS, about, tuple(q for q in given if ids[q - 1] == last and _near(ids, q - 1, name, marks.stop)))


def _sentence(ids: Sequence[int], place: int, marks: Marks) -> int:
    """Where it begins."""
    while place > 0 and ids[place - 1] not in (marks.stop, marks.colon):
        place -= 1
    return place


def _given(taught: Sequence[bool], end: int) -> list[int]:
    return [place for place in range(1, end) if not taught[place]]


def _last_count(ids: Sequence[int], taught: Sequence[bool], place: int, marks: Marks) -> Iterator[int]:
    for q in range(place - 1, 0, -1):
        if taught[q] and ids[q] in marks.counts and ids[q + 1] == marks.colon:
            yield q
            return


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
    """Where the heads of a model look. Catches what their layers' attention is given in each forward pass."""

    def __init__(self, model: PreTrainedModel) -> None:
        base: Any = model.base_model
        self._layers = {head.layer: _Caught(base.layers[head.layer].self_attn) for head in (READS, GOES_ON)}

    def close(self) -> None:
        for layer in self._layers.values():
            layer.hook.remove()

    def loss(self, rows: Sequence[Sequence[Look]]) -> Tensor:
        """How little the heads look where they should in the last pass: the mean negative logarithm of the share."""
        groups = [
            (row, head, [look for look in some if look.head == head])
            for row, some in enumerate(rows)
            for head in sorted({look.head for look in some})
        ]
        return -torch.cat([self._shares(*group) for group in groups]).mean() if groups else torch.zeros(())

    def _shares(self, row: int, head: Head, some: Sequence[Look]) -> Tensor:
        """For looks of one row and head, the logarithm of the share of attention that goes to the right places."""
        layer = self._layers[head.layer]
        size = layer.attention.head_dim
        group = head.number // (HEADS // GROUPS)
        places = torch.tensor([look.place for look in some])
        end = int(places.max()) + 1
        hidden, cos, sin = layer.hidden[row, :end], layer.cos[0, :end], layer.sin[0, :end]
        query: Tensor = hidden[places] @ layer.attention.q_proj.weight[head.number * size : (head.number + 1) * size].T
        keys: Tensor = hidden @ layer.attention.k_proj.weight[group * size : (group + 1) * size].T
        scores: Tensor = _turned(query, cos[places], sin[places]) @ _turned(keys, cos, sin).T / size**0.5
        scores = scores.masked_fill(torch.arange(end) > places[:, None], -torch.inf)
        elsewhere = torch.ones(scores.shape, dtype=torch.bool)
        for number, look in enumerate(some):
            elsewhere[number, list(look.at)] = False
        right = torch.logsumexp(scores.masked_fill(elsewhere, -torch.inf), dim=1)
        return right - torch.logsumexp(scores, dim=1)


class _Caught:
    """What the attention of one layer was given last."""

    def __init__(self, attention: Any) -> None:
        self.attention = attention
        self.hook = attention.register_forward_pre_hook(self._catch, with_kwargs=True)
        self.hidden = self.cos = self.sin = torch.empty(0)

    def _catch(self, module: torch.nn.Module, args: Any, given: Any) -> None:
        self.hidden = given["hidden_states"]
        self.cos, self.sin = given["position_embeddings"]


def _turned(vectors: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions, as the model applies them."""
    a, b = vectors.chunk(2, dim=-1)
    return vectors * cos + torch.cat([-b, a], dim=-1) * sin
