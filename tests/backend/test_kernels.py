"""Attention over a tree, computed both ways, against attention text by text."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lm_eval_ita.backend.kernels import attend_blocks, block_mask, masked_blocks  # noqa: E402
from lm_eval_ita.backend.tree import grow  # noqa: E402
from lm_eval_ita.backend.visibility import FLEX_BLOCK, visible  # noqa: E402

# Documents of three lengths with a common beginning and choices: several blocks of queries and of keys.
PROMPTS = [[1, 2, 3, *range(10, 10 + length)] for length in (30, 150, 220)]
TEXTS = sorted([*prompt, *choice] for prompt in PROMPTS for choice in ([5], [5, 6, 7], [8] * 20))
TREE, PLACES = grow(TEXTS)


def inputs(count: int, heads: int = 4, groups: int = 2) -> list["torch.Tensor"]:
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(1, number, count, 16, generator=draw) for number in (heads, groups, groups)]


def text_by_text(
    place: np.ndarray, parts: list["torch.Tensor"], window: int | None, scaling: float, softcap: float | None
) -> "torch.Tensor":
    """Causal attention of one text alone, in plain steps; shape (tokens, heads, width)."""
    query, key, value = (part[0][:, torch.from_numpy(place)].double() for part in parts)
    key, value = (part.repeat_interleave(query.shape[0] // key.shape[0], dim=0) for part in (key, value))
    products = query @ key.transpose(1, 2) * scaling
    if softcap is not None:
        products = softcap * torch.tanh(products / softcap)
    distance = torch.arange(len(place))[:, None] - torch.arange(len(place))[None, :]
    hidden = (distance < 0) | (distance >= (len(place) if window is None else window))
    return (products.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ value).transpose(0, 1)


@pytest.mark.parametrize("window", [None, 1, 40, 130])
@pytest.mark.parametrize("softcap", [None, 3.0])
def test_blocks_give_what_each_text_alone_does(window: int | None, softcap: float | None) -> None:
    parts = inputs(len(TREE))
    found = attend_blocks(*parts, masked_blocks(TREE, window, parts[0], 2), 0.3, softcap)
    assert found.shape == (1, len(TREE), 4, 16)
    for place in PLACES:
        expected = text_by_text(place, parts, window, 0.3, softcap)
        assert (found[0, torch.from_numpy(place)] - expected).abs().max() < 1e-5


@pytest.mark.parametrize("window", [None, 1, 40, 130])
def test_flex_attention_is_given_the_same(window: int | None) -> None:
    """Its function of single pairs, and its blocks."""
    tree = TREE.padded(FLEX_BLOCK)
    mask = block_mask(tree, window, torch.zeros(1))
    assert mask.shape == (1, 1, len(tree), len(tree))
    everything = np.arange(len(tree))
    seen = torch.from_numpy(visible(tree, everything, everything, window))
    every = torch.arange(len(tree))
    assert torch.equal(mask.mask_mod(0, 0, every[:, None], every[None, :]), seen)
    computed = mask.to_dense()[0, 0].bool().repeat_interleave(FLEX_BLOCK, 0).repeat_interleave(FLEX_BLOCK, 1)
    assert not (seen & ~computed).any()
    assert mask.sparsity() > 30, "documents do not see each other"


@pytest.mark.parametrize("window", [None, 40])
def test_flex_attention_gives_what_each_text_alone_does(window: int | None) -> None:
    """Uncompiled, it computes every pair by PyTorch's own plain rules, which are slow and serve as a reference."""
    from torch.nn.attention.flex_attention import flex_attention

    tree = TREE.padded(FLEX_BLOCK)
    parts = inputs(len(tree))
    found = flex_attention(*parts, block_mask=block_mask(tree, window, parts[0]), scale=0.3, enable_gqa=True).transpose(
        1, 2
    )
    for place in PLACES:
        assert (found[0, torch.from_numpy(place)] - text_by_text(place, parts, window, 0.3, None)).abs().max() < 1e-5
