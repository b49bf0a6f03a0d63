"""What each token of a pack sees, in the forms that attention takes: blocks of queries, or of queries and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lm_eval_ita.backend.tree import Ints, TokenTree

if TYPE_CHECKING:
    import torch

__all__ = ["FLEX_BLOCK", "QueryBlock", "flex_blocks", "query_blocks", "visible", "window_of"]

Bools = npt.NDArray[np.bool_]

# A block of queries: small enough that little of what it computes is masked, large enough for fast matrix products.
# Measured on a CPU with real prompts: 64 to 256 differ by a tenth, the whole pack at once takes seven times as long.
_MOST_QUERIES, _LEAST_QUERIES = 128, 64
# FlexAttention's block of queries and keys.
FLEX_BLOCK = 128


class UnsupportedAttentionError(Exception):
    """A model asks for attention that is neither causal nor a sliding window."""


def window_of(mask_function: Callable[..., Any], longest: int) -> int | None:
    """How far back a model's layers look, read off the function that transformers makes its masks with.

    Args:
        mask_function: Of batch, head, query position and key position, as `transformers.masking_utils` defines it.
        longest: Positions to look at.

    Returns:
        Tokens that a token sees at most, itself included; None where it sees all before it.

    Raises:
        UnsupportedAttentionError: What it sees is not the last tokens before it.
    """
    import torch

    keys = torch.arange(longest)

    def seen(position: int) -> torch.Tensor:
        query = torch.full_like(keys, position)
        first = torch.zeros_like(keys)
        return torch.as_tensor(mask_function(first, first, query, keys)).expand(longest)

    window = int(seen(longest - 1).sum())
    for position in {longest - 1, longest // 2, max(window - 1, 0), min(window, longest - 1), 0}:
        if not torch.equal(seen(position), (keys <= position) & (keys > position - window)):
            raise UnsupportedAttentionError("its attention is neither causal nor a sliding window")
    return None if window == longest else window


def visible(tree: TokenTree, queries: Ints, keys: Ints, window: int | None) -> Bools:
    """Which of some tokens see which.

    Args:
        tree: The pack.
        queries: Places of the tokens that look, shape (m,).
        keys: Places of those that may be seen, shape (n,).
        window: As `window_of` returns it.

    Returns:
        Shape (m, n).
    """
    seen = (keys[None, :] <= queries[:, None]) & (queries[:, None] < tree.ends[keys][None, :])
    if window is not None:
        seen &= tree.depths[queries][:, None] - tree.depths[keys][None, :] < window
    return np.asarray(seen)


@dataclass(frozen=True)
class QueryBlock:
    """Neighbouring tokens, and all that any of them sees.

    Attributes:
        start: Place of the first.
        stop: Place after the last.
        runs: What they see, as (start, stop) of neighbouring places, in order; themselves last.
        mask: Which sees which, shape (tokens, seen).
    """

    start: int
    stop: int
    runs: tuple[tuple[int, int], ...]
    mask: Bools


def query_blocks(tree: TokenTree, window: int | None) -> Iterator[QueryBlock]:
    """Cut a pack into blocks of queries, at the beginning of documents where it can be done."""
    for start, stop in _cuts(tree.depths):
        # Whatever a later token of the block sees before `start`, the first token sees too, as the subtree goes on.
        keys = np.concatenate([tree.ancestors(start), np.arange(start, stop)])
        mask = visible(tree, np.arange(start, stop), keys, window)
        used = mask.any(axis=0)
        keys, mask = keys[used], mask[:, used]
        edges = np.flatnonzero(np.diff(keys) != 1) + 1
        runs = tuple((int(run[0]), int(run[-1]) + 1) for run in np.split(keys, edges))
        yield QueryBlock(start, stop, runs, mask)


def _cuts(depths: Ints) -> Iterator[tuple[int, int]]:
    start = 0
    for place in range(1, len(depths)):
        long = place - start
        if long >= _MOST_QUERIES or (long >= _LEAST_QUERIES and depths[place] <= depths[start]):
            yield start, place
            start = place
    yield start, len(depths)


def flex_blocks(tree: TokenTree, window: int | None) -> tuple[Bools, Bools]:
    """Which blocks of `FLEX_BLOCK` queries by `FLEX_BLOCK` keys have to be computed.

    Args:
        tree: A pack of a whole number of blocks.
        window: As `window_of` returns it.

    Returns:
        Blocks in which some pairs may be seen, and blocks in which all are; each shape (blocks, blocks), none in both.
    """
    count = len(tree) // FLEX_BLOCK
    starts = np.arange(count) * FLEX_BLOCK
    ends, depths = (part.reshape(count, FLEX_BLOCK) for part in (tree.ends, tree.depths))
    before = starts[None, :] < starts[:, None]
    # The first query of a later block sees a key if its subtree reaches that far, and no query does if it does not.
    some = before & (ends.max(axis=1)[None, :] > starts[:, None])
    whole = before & (ends.min(axis=1)[None, :] >= starts[:, None] + FLEX_BLOCK)
    if window is not None:
        some &= depths.min(axis=1)[:, None] - depths.max(axis=1)[None, :] < window
        whole &= depths.max(axis=1)[:, None] - depths.min(axis=1)[None, :] < window
    some |= np.eye(count, dtype=bool)
    return some & ~whole, whole
