"""Whether a model can read trees of tokens, as far as its configuration tells; the self-test tells the rest."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["obstacle"]

_KNOWN_LAYERS = ("full_attention", "sliding_attention")
# Rotary positions that change for all of a batch when one text in it is long.
_UNSTEADY_POSITIONS = ("dynamic", "longrope")
_NEEDED = ("position_ids", "logits_to_keep")


def obstacle(lm: Any) -> str | None:
    """Why a model's choices are better scored by the harness; None where nothing speaks against packs.

    Args:
        lm: The harness's model, loaded.
    """
    if lm.backend != "causal":
        return "it is no decoder-only model"
    model = lm.model
    if any(getattr(config, "is_prompt_learning", False) for config in getattr(model, "peft_config", {}).values()):
        return "its adapter puts tokens of its own before the prompt"
    if hasattr(model, "get_base_model"):
        model = model.get_base_model()
    if getattr(model, "_is_stateful", False):
        return "it is recurrent"
    if not getattr(model, "_supports_attention_backend", False) or not hasattr(model, "set_attn_implementation"):
        return "its attention cannot be replaced (older code, or positions that are biases, as with ALiBi)"
    taken = inspect.signature(model.forward).parameters
    if lacking := [name for name in _NEEDED if name not in taken]:
        return f"it takes no {' and no '.join(lacking)}"
    return _obstacle_in(model.config.get_text_config())


def _obstacle_in(config: Any) -> str | None:
    if strange := sorted({str(kind) for kind in getattr(config, "layer_types", None) or ()} - {*_KNOWN_LAYERS}):
        return f"it has layers of the kind {', '.join(strange)}"
    if not getattr(config, "is_causal", True) or getattr(config, "use_bidirectional_attention", False):
        return "its attention is not causal"
    if unsteady := [kind for kind in _rope_types(config) if kind in _UNSTEADY_POSITIONS]:
        return f"its rotary positions ({unsteady[0]}) depend on the longest text of a batch"
    return None


def _rope_types(config: Any) -> list[str]:
    found = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    kinds = [found, *(part for part in found.values() if isinstance(part, dict))]
    return [str(kind.get("rope_type") or kind.get("type") or "default") for kind in kinds]
