"""Texts as one tree of tokens: what several begin with is kept once.

The tokens stand in depth-first order, so that one number says which tokens see a token: j is seen by i, that is, j is i
itself or one of its ancestors, exactly if j <= i < ends[j].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Ints", "TokenTree", "common_length", "grow"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TokenTree:
    """Tokens in depth-first order.

    Attributes:
        tokens: Their ids, shape (n,).
        depths: Their positions in their texts, from 0, shape (n,): also how many ancestors each has.
        ends: Where the tokens that see each one end, shape (n,); at least its own place plus 1.
    """

    tokens: Ints
    depths: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.tokens)

    def ancestors(self, place: int) -> Ints:
        """Places of the tokens before `place` that its token sees, in order; as many as its depth."""
        return np.flatnonzero(self.ends[:place] > place)

    def padded(self, multiple: int) -> TokenTree:
        """Filled up to a multiple of some number of tokens, with tokens that see themselves only."""
        count = -len(self) % multiple
        zeros = np.zeros(count, dtype=np.int64)
        return TokenTree(
            np.concatenate([self.tokens, zeros]),
            np.concatenate([self.depths, zeros]),
            np.concatenate([self.ends, np.arange(len(self), len(self) + count) + 1]),
        )


def common_length(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two texts have in common from their beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:  # by halving, since slices are compared in C
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def grow(texts: Sequence[Sequence[int]]) -> tuple[TokenTree, list[Ints]]:
    """Build the tree of some texts.

    Args:
        texts: Token ids of each text, all as lists or all as tuples, in lexicographic order: equal beginnings are then
            neighbours. Texts may be equal.

    Returns:
        The tree, and for each text the places of its tokens in it, shape (length of the text,).
    """
    tokens: list[int] = []
    places: list[Ints] = []
    ends = np.zeros(sum(map(len, texts)), dtype=np.int64)
    depths = np.zeros_like(ends)
    before: Sequence[int] = ()
    path = np.empty(0, dtype=np.int64)
    for text in texts:
        shared = common_length(before, text)
        first, count = len(tokens), len(text) - shared
        ends[path[shared:]] = first
        depths[first : first + count] = np.arange(shared, len(text))
        tokens.extend(text[shared:])
        path = np.concatenate([path[:shared], np.arange(first, first + count)])
        places.append(path)
        before = text
    ends[path] = len(tokens)
    return TokenTree(np.asarray(tokens, dtype=np.int64), depths[: len(tokens)], ends[: len(tokens)]), places
