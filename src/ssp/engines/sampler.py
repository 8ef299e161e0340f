"""One token for each row of logits, from numbers drawn beforehand: a row's choice does not depend on its neighbours."""

from collections.abc import Sequence

import torch

from ssp.types import Sampling


def choose(
    logits: torch.Tensor, samplings: Sequence[Sampling], uniforms: Sequence[float]
) -> tuple[list[int], list[float]]:
    """Token ids and their log-probabilities (see `Completion` for what these are).

    >>> logits = torch.tensor([[0.0, 2.0, 1.0]])
    >>> choose(logits, [Sampling(max_tokens=1, temperature=0.0)], [0.9])[0]
    [1]
    """
    logits = logits.float()
    greedy = torch.tensor([how.temperature == 0.0 for how in samplings], device=logits.device)
    if any(how.temperature not in (0.0, 1.0) for how in samplings):
        temperatures = torch.tensor([how.temperature or 1.0 for how in samplings], device=logits.device)
        logits = logits / temperatures[:, None]
    logprobs = torch.log_softmax(logits, dim=-1)
    if bool(greedy.all()):
        tokens = logits.argmax(dim=-1)
    else:
        tokens = torch.where(greedy, logits.argmax(dim=-1), _draw(logprobs, samplings, uniforms))
    chosen = logprobs.gather(1, tokens[:, None])[:, 0]
    return tokens.tolist(), chosen.clamp(max=0.0).tolist()


def _draw(logprobs: torch.Tensor, samplings: Sequence[Sampling], uniforms: Sequence[float]) -> torch.Tensor:
    """The token at which the cumulative probability passes the row's number."""
    probabilities = logprobs.exp()
    if any(how.top_p < 1.0 for how in samplings):
        probabilities = _nucleus(probabilities, samplings)
    cumulative = probabilities.cumsum(dim=-1, dtype=torch.float64)
    numbers = torch.tensor(uniforms, dtype=torch.float64, device=logprobs.device)
    places = torch.searchsorted(cumulative, numbers[:, None] * cumulative[:, -1:], right=True)[:, 0]
    return places.clamp(max=logprobs.shape[-1] - 1)


def _nucleus(probabilities: torch.Tensor, samplings: Sequence[Sampling]) -> torch.Tensor:
    """Keep the smallest set of tokens that has top_p of the probability; ties go to the lower token id."""
    top_p = torch.tensor([how.top_p for how in samplings], device=probabilities.device)
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.where(before < top_p[:, None], ordered, torch.zeros_like(ordered))
    return torch.zeros_like(probabilities).scatter(1, order, kept)
