"""The two ways to compute attention over a tree: block by block with SDPA, or by FlexAttention.

Blocks serve every device and need no compiler. FlexAttention needs one (Triton) and computes each layer in one kernel,
which is what counts on a GPU: a pack of 200 documents would take 200 of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_ita.backend.tree import TokenTree
from lm_eval_ita.backend.visibility import FLEX_BLOCK, QueryBlock, flex_blocks, query_blocks

if TYPE_CHECKING:
    import torch

__all__ = ["MaskedBlock", "attend_blocks", "attend_flex", "block_mask", "masked_blocks"]


@dataclass(frozen=True)
class MaskedBlock:
    """A block of queries on a device.

    Attributes:
        block: What it is.
        mask: 0 where seen and minus infinity elsewhere, shape (heads that share keys * tokens, seen).
    """

    block: QueryBlock
    mask: torch.Tensor


def masked_blocks(tree: TokenTree, window: int | None, like: torch.Tensor, sharing: int) -> list[MaskedBlock]:
    """Cut a pack into blocks.

    Args:
        tree: The pack.
        window: As `window_of` returns it.
        like: A tensor of the device and type in which the model computes.
        sharing: Query heads for each head of keys.
    """
    import torch

    found = []
    for block in query_blocks(tree, window):
        hidden = torch.from_numpy(~block.mask).to(like.device)
        mask = torch.zeros(hidden.shape, dtype=like.dtype, device=like.device).masked_fill_(hidden, -torch.inf)
        found.append(MaskedBlock(block, mask.repeat(sharing, 1)))
    return found


def attend_blocks(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    blocks: list[MaskedBlock],
    scaling: float | None,
    softcap: float | None,
) -> torch.Tensor:
    """Attention block by block: the pairs of tokens that see nothing of each other are mostly not computed.

    Args:
        query: Shape (1, heads, tokens, width).
        key: Shape (1, heads of keys, tokens, width).
        value: Likewise.
        blocks: The pack's.
        scaling: Of the products; None for one over the root of the width.
        softcap: Bound of the products, as Gemma 2 has it; None for none.

    Returns:
        Shape (1, tokens, heads, width).
    """
    from torch.nn.functional import scaled_dot_product_attention

    heads, groups = query.shape[1], key.shape[1]
    out = query.new_empty(1, query.shape[2], heads, value.shape[-1])
    for masked in blocks:
        start, stop = masked.block.start, masked.block.stop
        # Heads that share keys stand below each other, as further queries: keys are not copied for each of them.
        rows = query[:, :, start:stop].reshape(1, groups, -1, query.shape[-1])
        keys, values = (_runs(part, masked.block.runs) for part in (key, value))
        if softcap is None:
            found = scaled_dot_product_attention(rows, keys, values, attn_mask=masked.mask, scale=scaling)
        else:
            found = _softcapped(rows, keys, values, masked.mask, scaling, softcap)
        out[0, start:stop] = found.reshape(heads, stop - start, -1).transpose(0, 1)
    return out


def _runs(part: torch.Tensor, runs: tuple[tuple[int, int], ...]) -> torch.Tensor:
    import torch

    cut = [part[:, :, start:stop] for start, stop in runs]
    return cut[0] if len(cut) == 1 else torch.cat(cut, dim=2)


def _softcapped(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    scaling: float | None,
    softcap: float,
) -> torch.Tensor:
    import torch

    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    products = torch.matmul(query, key.transpose(2, 3)) * scale
    products = torch.tanh(products / softcap) * softcap + mask
    return torch.matmul(torch.softmax(products, dim=-1, dtype=torch.float32).to(value.dtype), value)


def block_mask(tree: TokenTree, window: int | None, like: torch.Tensor) -> Any:
    """The mask of a pack as FlexAttention takes it: a `BlockMask` of shape (1, 1, tokens, tokens).

    Made from the tree in numbers of blocks, since PyTorch's own `create_block_mask` looks at every pair of tokens.

    Args:
        tree: A pack of a whole number of FlexAttention's blocks.
        window: As `window_of` returns it.
        like: A tensor of the device in which the model computes.
    """
    import torch
    from torch.nn.attention.flex_attention import BlockMask

    ends, depths = (torch.from_numpy(part).to(like.device, torch.int32) for part in (tree.ends, tree.depths))

    def seen(_batch: Any, _head: Any, query: Any, key: Any) -> Any:
        return (key <= query) & (query < ends[key])

    def seen_in_window(_batch: Any, _head: Any, query: Any, key: Any) -> Any:
        assert window is not None
        return (key <= query) & (query < ends[key]) & (depths[query] - depths[key] < window)

    some, whole = (_counted(blocks, like.device) for blocks in flex_blocks(tree, window))
    return BlockMask.from_kv_blocks(
        *some,
        *whole,
        BLOCK_SIZE=FLEX_BLOCK,
        mask_mod=seen if window is None else seen_in_window,
        seq_lengths=(len(tree), len(tree)),
    )


def _counted(blocks: np.ndarray[Any, Any], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """For each row of blocks: how many are set, and which, those first."""
    import torch

    counts = torch.from_numpy(blocks.sum(axis=1, dtype=np.int32))
    order = torch.from_numpy(np.argsort(~blocks, axis=1, kind="stable").astype(np.int32))
    return counts[None, None].to(device), order[None, None].to(device)


def attend_flex(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Any, **options: Any
) -> torch.Tensor:
    """Attention by FlexAttention, through transformers, which compiles it once and knows softcaps and sinks."""
    from transformers.integrations.flex_attention import flex_attention_forward

    out: torch.Tensor = flex_attention_forward(module, query, key, value, mask, **options)[0]
    return out
