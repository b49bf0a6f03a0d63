"""Attention over a tree of tokens, put in the place of a model's own while a pack is read.

transformers lets attention and masks be registered by name. A model then makes its masks by calling `_mask` below, once
for each kind of layer, with a function that says how far these layers look; what `_mask` returns comes to `_attend` in
each layer. So a model's own code decides which layers slide, and nothing here knows models by name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lm_eval_ita.backend.kernels import attend_blocks, attend_flex, block_mask, masked_blocks
from lm_eval_ita.backend.tree import TokenTree
from lm_eval_ita.backend.visibility import UnsupportedAttentionError, window_of

if TYPE_CHECKING:
    import torch

__all__ = ["Pack", "attending_by_trees", "reading"]

_NAME = "lm_eval_ita_tree"


@dataclass(frozen=True)
class Pack:
    """A tree that a model reads.

    Attributes:
        tree: Its tokens; for FlexAttention a whole number of its blocks.
        flex: Whether FlexAttention computes, else SDPA block by block.
        masks: Those made so far: each serves all layers of a kind on a device.
    """

    tree: TokenTree
    flex: bool
    masks: dict[Any, Any] = field(default_factory=dict)


_reading: ContextVar[Pack] = ContextVar("reading")


@dataclass(frozen=True)
class _Layers:
    """What comes to a layer in the place of its attention mask.

    Attributes:
        pack: The pack.
        window: How far these layers look, as `window_of` returns it.
    """

    pack: Pack
    window: int | None


@contextlib.contextmanager
def attending_by_trees(model: Any) -> Iterator[None]:
    """Let a model attend by trees; within, `reading` says by which."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, _mask)
    before = model.config._attn_implementation
    model.set_attn_implementation(_NAME)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


@contextlib.contextmanager
def reading(pack: Pack) -> Iterator[None]:
    """Name the pack that the model reads within."""
    token = _reading.set(pack)
    try:
        yield
    finally:
        _reading.reset(token)


def _mask(*_: Any, mask_function: Callable[..., Any], use_vmap: bool = False, **__: Any) -> _Layers:
    if use_vmap:  # a model's own addition to the causal mask, which may go by places and not by positions
        raise UnsupportedAttentionError("its attention masks are its own")
    pack = _reading.get()
    return _Layers(pack, window_of(mask_function, int(pack.tree.depths.max()) + 1))


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Any = None,
    position_bias: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    if not isinstance(attention_mask, _Layers):
        raise UnsupportedAttentionError("it does not take its attention masks from transformers")
    if s_aux is not None or position_bias is not None:
        raise UnsupportedAttentionError("its attention has sinks or biases")
    pack, window = attention_mask.pack, attention_mask.window
    sharing = query.shape[1] // key.shape[1]
    name = (window, query.device, query.dtype, sharing)
    if pack.flex:
        if name not in pack.masks:
            pack.masks[name] = block_mask(pack.tree, window, query)
        found = attend_flex(module, query, key, value, pack.masks[name], scaling=scaling, softcap=softcap)
    else:
        if name not in pack.masks:
            pack.masks[name] = masked_blocks(pack.tree, window, query, sharing)
        found = attend_blocks(query, key, value, pack.masks[name], scaling, softcap)
    return found, None
