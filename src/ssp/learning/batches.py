"""Rows of different lengths as batches with little padding: rows of similar length go together."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

import torch


class _HasTokens(Protocol):
    @property
    def token_ids(self) -> tuple[int, ...]: ...


T = TypeVar("T", bound=_HasTokens)


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens, and how much the prediction of each of them counts. The first one is never predicted."""

    token_ids: tuple[int, ...]
    weights: tuple[float, ...]


def bucketed(rows: Iterable[T], tokens: int, window: int, rng: random.Random) -> Iterator[list[T]]:
    """Batches of at most `tokens` tokens with padding, from windows of rows sorted by length; batches are shuffled.

    >>> rows = [Row((1,) * n, (1.0,) * n) for n in (3, 9, 4, 8)]
    >>> sorted([len(row.token_ids) for row in batch] for batch in bucketed(rows, 16, 4, random.Random(0)))
    [[3, 4], [8], [9]]
    """
    stream = iter(rows)
    while block := sorted(islice(stream, window), key=lambda row: len(row.token_ids)):
        batches = together(block, tokens)
        rng.shuffle(batches)
        yield from batches


def together(ordered: Sequence[T], tokens: int) -> list[list[T]]:
    """Batches of at most `tokens` tokens with padding, from what is ordered by length. What is too long goes alone."""
    batches: list[list[T]] = []
    for one in ordered:
        if not batches or (len(batches[-1]) + 1) * len(one.token_ids) > tokens:
            batches.append([])
        batches[-1].append(one)
    return batches


def padded(rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and weights [rows, longest]. Padding stands at the end and weighs nothing: causal models ignore it."""
    longest = max(len(row.token_ids) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    weights = torch.zeros(len(rows), longest)
    for number, row in enumerate(rows):
        ids[number, : len(row.token_ids)] = torch.tensor(row.token_ids)
        weights[number, : len(row.weights)] = torch.tensor(row.weights)
    return ids, weights
