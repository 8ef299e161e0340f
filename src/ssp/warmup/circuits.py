"""What the tiny model can do before it has learned anything: find in a text what stands next to a name, and copy it.

Looking something up takes two attention layers in a row: one in which every token notes what stands before it, and
one that looks for places with the same notes and copies from there. From random weights, small models spend most of
their training on finding these circuits; a warm-up of minutes can't. So they are laid into the first two layers, as
small numbers that training can change: what pre-training would have left in a larger model.

Layer 0: every token notes the token before it, the *rare* words among the last few (names, mostly), and the last few
words as they are. Layer 1 has four ways to look up:
- where did the present token stand before? → what came after it (this copies names and phrases);
- where do the same names stand, after the same words? → what stands there (this reads a fact about someone);
- where is this name mentioned? → the names around it (this reads a fact backwards);
- where do the names that were just said stand together? → the words between them (this says how they are linked).
Layer 2 has two more:
- what name was said a few words ago? → the same again (this goes on with what was found);
- where does the name that was just said stand? → the words before it there (this says what it is of something).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

HEADS, GROUPS = 4, 2
LOOKUPS = 1  # the layer that looks things up, and its heads
SAME_TOKEN, MENTIONS, SAME_NAMES, LINKS = range(HEADS)
SAYS_AGAIN, WORDS_BEFORE = 0, 3  # heads of the layer after
LAID = tuple(f"layers.{layer}.self_attn.{part}_proj" for layer in (0, 1) for part in "qk")  # where looking is done
_CONSTANT = 2.0  # an axis of the residual stream that is the same for all tokens
_NEAR = (0.02, 0.4)  # rotary frequencies (radians per token) that tell apart places within a sentence …
_NEXT = (0.08, 2.0)  # … and neighbours
_SENTENCES_AWAY = (0.03, 0.25)


def rareness(encoded: Iterable[Sequence[int]], vocabulary: int) -> Tensor:
    """For each token, from 0 (in one of 20 texts or more) to 1 (in one of 300 or fewer). Unseen tokens count as common.

    >>> rareness([[0, 1], *[[0]] * 299], vocabulary=3)
    tensor([0., 1., 0.])
    """
    counts = torch.zeros(vocabulary)
    texts = 0
    for ids in encoded:
        counts[list(set(ids))] += 1
        texts += 1
    scale = (torch.log(texts / counts) - math.log(20)) / (math.log(300) - math.log(20))
    return torch.where(counts > 0, scale.clamp(0, 1), 0.0)


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where in the residual stream what is kept: the first two axes hold a constant and rareness."""

    width: int
    note: int  # numbers in which a word is noted

    @property
    def itself(self) -> slice:
        return slice(2, self.width - 4 * self.note)

    @property
    def before(self) -> slice:
        return self._note(0)

    @property
    def names(self) -> slice:
        return self._note(1)

    @property
    def recent(self) -> slice:
        return self._note(2)

    @property
    def output(self) -> slice:
        return self._note(3)

    def _note(self, number: int) -> slice:
        start = self.width - (4 - number) * self.note
        return slice(start, start + self.note)


@torch.no_grad()
def lay_circuits(model: LlamaForCausalLM, rare: Tensor, rope_base: float) -> None:
    """Put the circuits into a fresh model with `HEADS` heads in `GROUPS` groups."""
    size = model.model.layers[0].self_attn.q_proj.out_features // HEADS
    axes = _Axes(model.config.hidden_size, size // 2)
    words = axes.itself.stop - axes.itself.start
    tokens = torch.randn(len(rare), words)
    noted = torch.linalg.qr(torch.randn(words, axes.note))[0].T  # [note, words]: keeps angles roughly
    table = model.model.embed_tokens.weight
    table.zero_()
    table[:, 0] = _CONSTANT
    table[:, 1] = _CONSTANT * rare
    table[:, axes.itself] = tokens
    model.lm_head.weight[:, axes.output] = 0.3 * tokens @ noted.T
    turns = rope_base ** (-torch.arange(size // 2) / (size // 2))
    _lay_notes(_Layer(model, 0, size, _norm(axes, words)), axes, noted, turns)
    _lay_lookups(_Layer(model, LOOKUPS, size, _norm(axes, words + axes.note * 1.75)), axes, noted, turns)
    _lay_sayings(_Layer(model, LOOKUPS + 1, size, _norm(axes, words + axes.note * 4.0)), axes, noted, turns)


def _norm(axes: _Axes, squares: float) -> float:
    """By what the layer's normalisation multiplies, given the sum of squares beside the constant."""
    return 1 / math.sqrt((_CONSTANT**2 + squares) / axes.width)


class _Layer:
    """The attention of one layer, by heads; `scale` is by what its input is multiplied before."""

    def __init__(self, model: LlamaForCausalLM, number: int, size: int, scale: float) -> None:
        self._attention = model.model.layers[number].self_attn
        self.size = size
        self.scale = scale

    def blank(self, group: int) -> None:
        """No keys and values: what is laid afterwards is all there is."""
        for weights in (self._attention.k_proj, self._attention.v_proj):
            weights.weight[self._rows(group)] = 0.0

    def query(self, head: int, axes: slice, block: Tensor) -> None:
        self._add(self._attention.q_proj.weight, self._rows(head), axes, block)

    def key(self, group: int, axes: slice, block: Tensor) -> None:
        self._add(self._attention.k_proj.weight, self._rows(group), axes, block)

    def value(self, group: int, half: int, axes: slice, block: Tensor) -> None:
        rows = self._half(group, half)
        self._attention.v_proj.weight[rows, axes] = block

    def clear(self, head: int) -> None:
        self._attention.q_proj.weight[self._rows(head)] = 0.0
        self._attention.o_proj.weight[:, self._rows(head)] = 0.0

    def output(self, head: int, half: int, axes: slice, weight: float) -> None:
        columns = self._half(head, half)
        self._attention.o_proj.weight[axes, columns] = weight * torch.eye(axes.stop - axes.start)

    def gain(self, score: float, length: float) -> float:
        """The factor for queries and keys by which two equal notes of this squared length give this score."""
        return math.sqrt(score * math.sqrt(self.size) / length) / self.scale

    def _rows(self, number: int) -> slice:
        return slice(number * self.size, (number + 1) * self.size)

    def _half(self, number: int, half: int) -> slice:
        start = number * self.size + half * (self.size // 2)
        return slice(start, start + self.size // 2)

    @staticmethod
    def _add(weight: Tensor, rows: slice, axes: slice, block: Tensor) -> None:
        weight[rows, axes] += block


def _lay_notes(layer: _Layer, axes: _Axes, noted: Tensor, turns: Tensor) -> None:
    """Keys that are the same for all tokens meet queries that, turned by position, agree with them some tokens back."""
    before, names, recent = 0, 1, HEADS // GROUPS
    level = _CONSTANT * layer.scale
    everywhere = torch.cat([torch.ones_like(turns), torch.zeros_like(turns)])
    slowest = len(turns) - 1
    everywhere[slowest] = 0.0  # kept for rareness
    for group in range(GROUPS):
        layer.blank(group)
        layer.key(group, slice(0, 1), everywhere[:, None] / level)
        layer.value(group, 0, axes.itself, noted / layer.scale)
    layer.key(0, slice(1, 2), _unit(layer.size, slowest)[:, None] / level)
    for head, band, sharpness, back, notes in (
        (before, _NEXT, 4.5, 1.0, axes.before),
        (names, _NEAR, 1.5, 3.5, axes.names),
        (recent, _NEAR, 1.0, 3.0, axes.recent),
    ):
        layer.clear(head)
        peak = sharpness * math.sqrt(layer.size) * _turned(_band(turns, band), turns, -back)
        layer.query(head, slice(0, 1), peak[:, None] / level)
        layer.output(head, 0, notes, 1.0)
    layer.query(names, slice(0, 1), 6.0 * math.sqrt(layer.size) * _unit(layer.size, slowest)[:, None] / level)


def _lay_lookups(layer: _Layer, axes: _Axes, noted: Tensor, turns: Tensor) -> None:
    """Notes meet notes on the slow rotary axes."""
    place = _slow(layer, axes, turns)
    for group in range(GROUPS):
        layer.blank(group)
    for head in (SAME_TOKEN, MENTIONS, SAME_NAMES, LINKS):
        layer.clear(head)

    # First group: keys say which token came before.
    strong = layer.gain(10.0, axes.note)
    layer.key(0, axes.before, strong * place)
    layer.query(SAME_TOKEN, axes.itself, strong * place @ noted)
    layer.query(MENTIONS, axes.names, layer.gain(12.0, axes.note) ** 2 / strong * place)
    layer.value(0, 0, axes.itself, noted)
    layer.value(0, 1, axes.names, torch.eye(axes.note))
    layer.output(SAME_TOKEN, 0, axes.output, 2.0)
    layer.output(MENTIONS, 1, axes.output, 1.5)

    # Second group: keys say which token, names and words came before, each in its own random directions; they stand
    # out at rare words, since it is names that are to be copied, and little near the reader's own words.
    for notes, score, of_query in (
        (axes.before, 10.0, axes.itself),
        (axes.names, 16.0, axes.names),
        (axes.recent, 3.0, axes.recent),
    ):
        directions = layer.gain(score, axes.note) * place @ torch.linalg.qr(torch.randn(axes.note, axes.note))[0]
        layer.key(1, notes, directions)
        layer.query(SAME_NAMES, of_query, directions @ noted if of_query == axes.itself else directions)
        if notes == axes.names:
            layer.query(LINKS, notes, directions)
    level = _CONSTANT * layer.scale
    unused = len(turns) - axes.note // 2 - 1
    root = math.sqrt(layer.size)
    layer.key(1, slice(1, 2), _unit(layer.size, unused)[:, None] / level)
    layer.query(SAME_NAMES, slice(0, 1), 4.0 * root * _unit(layer.size, unused)[:, None] / level)
    around = _band(turns, _SENTENCES_AWAY)
    around[unused] = 0.0
    layer.key(1, slice(0, 1), around[:, None] / level)
    for head in (SAME_NAMES, LINKS):
        layer.query(head, slice(0, 1), -3.0 * root / around.sum() * around[:, None] / level)
    layer.value(1, 0, axes.itself, noted)
    layer.value(1, 1, axes.recent, torch.eye(axes.note))
    layer.output(SAME_NAMES, 0, axes.output, 4.0)
    layer.output(LINKS, 1, axes.before, 1.5)


def _lay_sayings(layer: _Layer, axes: _Axes, noted: Tensor, turns: Tensor) -> None:
    """What is found here goes straight to what is said next."""
    for group in range(GROUPS):
        layer.blank(group)
        layer.value(group, 0, axes.itself, noted / layer.scale)
    for head in (SAYS_AGAIN, WORDS_BEFORE):
        layer.clear(head)

    # First group: like the note of names, but of those some words further back.
    level = _CONSTANT * layer.scale
    root = math.sqrt(layer.size)
    everywhere = torch.cat([torch.ones_like(turns), torch.zeros_like(turns)])
    slowest = _unit(layer.size, len(turns) - 1)
    layer.key(0, slice(0, 1), (everywhere - slowest)[:, None] / level)
    layer.key(0, slice(1, 2), slowest[:, None] / level)
    peak = 1.5 * root * _turned(_band(turns, _NEAR), turns, -6.5)
    layer.query(SAYS_AGAIN, slice(0, 1), (peak + 4.0 * root * slowest)[:, None] / level)
    layer.output(SAYS_AGAIN, 0, axes.output, 2.0)

    # Second group: keys say which token this is.
    directions = layer.gain(12.0, axes.note) * _slow(layer, axes, turns)
    layer.key(1, axes.itself, directions @ noted)
    layer.query(WORDS_BEFORE, axes.names, directions)
    layer.value(1, 1, axes.recent, torch.eye(axes.note))
    layer.output(WORDS_BEFORE, 1, axes.before, 1.5)


def _slow(layer: _Layer, axes: _Axes, turns: Tensor) -> Tensor:
    """Puts a note [size, note] on the rotary axes on which it hardly matters how far apart two tokens are."""
    half = axes.note // 2
    slow = [*range(len(turns) - half, len(turns)), *range(layer.size - half, layer.size)]
    place = torch.zeros(layer.size, axes.note)
    place[slow] = torch.eye(axes.note)
    return place


def _unit(size: int, axis: int) -> Tensor:
    vector = torch.zeros(size)
    vector[axis] = 1.0
    return vector


def _band(turns: Tensor, bounds: tuple[float, float]) -> Tensor:
    """Ones on the rotary axes that turn this fast."""
    inside = ((turns >= bounds[0]) & (turns <= bounds[1])).float()
    return torch.cat([inside, torch.zeros_like(inside)])


def _turned(vector: Tensor, turns: Tensor, positions: float) -> Tensor:
    """A vector turned as rotary embeddings turn it over so many positions."""
    a, b = vector.chunk(2)
    angles = positions * turns
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()])
