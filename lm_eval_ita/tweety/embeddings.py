"""Rows of a new embedding matrix: weighted sums of the old one's, or the baselines that these must beat."""

from collections.abc import Sequence
from typing import Any, Literal

from lm_eval_ita.tweety.mapping import Sources

__all__ = ["Init", "new_rows"]

# "mapping" takes the weights; the others are baselines that know nothing of aligned text.
Init = Literal["mapping", "random", "mean", "pieces"]
# Rows made at a time: bounds what lies in float32 beside the matrices.
_CHUNK = 2048


def new_rows(old: Any, tokens: Sequence[Sources], size: int, init: Init = "mapping", seed: int = 0) -> Any:
    """Build the rows for new tokens.

    A row that is one old row is copied bit by bit; sums are made in float32 and rounded once.

    Args:
        old: The old matrix (a tensor, old tokens by dimensions; or a bias, old tokens), its rows beyond the old
            tokenizer left out.
        tokens: The sources of each new token.
        size: Rows wanted. Those after the last token are padding: the mean of the new rows. No token is there to be
            predicted, and a head gives the mean row at most the average probability (Jensen's inequality).
        init: "random" draws each dimension from a normal distribution with the old rows' mean and deviation; "mean" is
            the mean of all old rows; "pieces" must get a mapping that was made without aligned text. In all of them
            special tokens are kept.
        seed: For "random".

    Returns:
        A tensor of the type of `old`, new tokens by dimensions.
    """
    import torch

    with torch.no_grad():
        new = torch.empty((size, *old.shape[1:]), dtype=old.dtype)
        mean, deviation = _moments(old)
        for start in range(0, len(tokens), _CHUNK):
            _fill(new, old, tokens, range(start, min(start + _CHUNK, len(tokens))), mean)
        if init in ("random", "mean"):
            others = torch.tensor([n for n, sources in enumerate(tokens) if sources.how != "special"], dtype=torch.long)
            if init == "mean":
                new[others] = mean.to(new.dtype)
            else:
                drawn = torch.randn((len(others), *old.shape[1:]), generator=torch.Generator().manual_seed(seed))
                new[others] = (drawn * deviation + mean).to(new.dtype)
        if size > len(tokens):
            new[len(tokens) :] = _moments(new[: len(tokens)])[0].to(new.dtype)
    return new


def _fill(new: Any, old: Any, tokens: Sequence[Sources], numbers: range, mean: Any) -> None:
    import torch

    for number in numbers:
        sources = tokens[number]
        if len(sources.tokens) == 1:
            new[number] = old[sources.tokens[0]]
        elif sources.tokens:
            weights = torch.tensor(sources.weights, dtype=torch.float32)
            new[number] = torch.tensordot(weights, old[list(sources.tokens)].float(), dims=1).to(new.dtype)
        else:
            new[number] = mean.to(new.dtype)


def _moments(matrix: Any) -> tuple[Any, Any]:
    """Mean and standard deviation over the rows, in float32, a chunk at a time."""
    import torch

    total = torch.zeros(matrix.shape[1:], dtype=torch.float64)
    squares = torch.zeros_like(total)
    for start in range(0, len(matrix), _CHUNK):
        chunk = matrix[start : start + _CHUNK].double()
        total += chunk.sum(0)
        squares += (chunk * chunk).sum(0)
    mean = total / len(matrix)
    return mean.float(), (squares / len(matrix) - mean * mean).clamp_min(0).sqrt().float()
