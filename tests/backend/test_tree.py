"""Trees of tokens and what is seen in them, against the texts themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.backend.tree import common_length, grow
from lm_eval_ita.backend.visibility import (
    FLEX_BLOCK,
    UnsupportedAttentionError,
    flex_blocks,
    query_blocks,
    visible,
    window_of,
)

# Few different tokens: texts then begin alike, end within each other, and are equal.
TEXTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=30), min_size=1, max_size=12).map(sorted)
# Long ones, which fill several blocks.
LONG = st.lists(st.integers(0, 600), min_size=1, max_size=6).map(
    lambda cuts: sorted([*([7] * cut), *range(100, 100 + cut % 140)] or [7] for cut in cuts)
)
WINDOWS = st.none() | st.integers(1, 40)


def test_worked_by_hand() -> None:
    # 1 2 3, 1 2 4 5 and 7: after 1 2, the tree forks.
    tree, places = grow([[1, 2, 3], [1, 2, 4, 5], [7]])
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5, 7]
    assert tree.depths.tolist() == [0, 1, 2, 2, 3, 0]
    assert tree.ends.tolist() == [5, 5, 3, 5, 5, 6]
    assert [place.tolist() for place in places] == [[0, 1, 2], [0, 1, 3, 4], [5]]
    assert tree.ancestors(3).tolist() == [0, 1]


@settings(deadline=None)
@given(TEXTS | LONG, WINDOWS)
def test_each_token_sees_exactly_its_ancestors(texts: list[list[int]], window: int | None) -> None:
    tree, places = grow(texts)
    everything = np.arange(len(tree))
    seen = visible(tree, everything, everything, window)
    for text, place in zip(texts, places, strict=True):
        assert tree.tokens[place].tolist() == text
        assert tree.depths[place].tolist() == list(range(len(text)))
        for position in {0, len(text) // 2, len(text) - 1}:
            first = 0 if window is None else max(position - window + 1, 0)
            assert np.flatnonzero(seen[place[position]]).tolist() == place[first : position + 1].tolist()


@settings(deadline=None)
@given(TEXTS)
def test_no_beginning_is_kept_twice(texts: list[list[int]]) -> None:
    tree, _ = grow(texts)
    assert len(tree) == len({tuple(text[:length]) for text in texts for length in range(1, len(text) + 1)})


@given(st.lists(st.integers(0, 1), max_size=20), st.lists(st.integers(0, 1), max_size=20))
def test_common_length(first: list[int], second: list[int]) -> None:
    length = common_length(first, second)
    assert first[:length] == second[:length]
    assert first[length : length + 1] != second[length : length + 1] or not first[length:]


@settings(deadline=None)
@given(TEXTS | LONG, WINDOWS)
def test_blocks_of_queries_hold_every_pair_once(texts: list[list[int]], window: int | None) -> None:
    tree, _ = grow(texts)
    everything = np.arange(len(tree))
    seen = np.zeros((len(tree), len(tree)), dtype=int)
    for block in query_blocks(tree, window):
        keys = np.concatenate([np.arange(*run) for run in block.runs])
        assert block.mask.any(axis=1).all()
        seen[np.ix_(np.arange(block.start, block.stop), keys)] += block.mask
    assert (seen == visible(tree, everything, everything, window)).all()


@settings(deadline=None, max_examples=30)
@given(LONG, WINDOWS)
def test_blocks_of_flex_attention_leave_out_nothing_that_is_seen(texts: list[list[int]], window: int | None) -> None:
    tree = grow(texts)[0].padded(FLEX_BLOCK)
    count = len(tree) // FLEX_BLOCK
    everything = np.arange(len(tree))
    seen = visible(tree, everything, everything, window)
    assert seen.any(axis=1).all(), "a token that sees nothing would have no attention"
    tiles = seen.reshape(count, FLEX_BLOCK, count, FLEX_BLOCK).transpose(0, 2, 1, 3)
    some, whole = flex_blocks(tree, window)
    assert not (some & whole).any()
    assert tiles[whole].all()
    assert not tiles[~some & ~whole].any()


def test_windows_are_read_off_masks() -> None:
    masking = pytest.importorskip("transformers.masking_utils")
    import torch

    sliding = masking.sliding_window_causal_mask_function
    assert window_of(masking.causal_mask_function, 50) is None
    assert window_of(sliding(7), 50) == 7
    assert window_of(sliding(49), 50) == 49
    assert window_of(sliding(50), 50) is None, "no text is long enough to notice"
    assert window_of(sliding(7), 1) is None
    chunks = masking.chunked_causal_mask_function(8, torch.zeros(1, dtype=torch.long))
    for strange in (chunks, masking.bidirectional_mask_function, masking.sliding_window_bidirectional_mask_function(7)):
        with pytest.raises(UnsupportedAttentionError, match="neither causal nor"):
            window_of(strange, 50)
