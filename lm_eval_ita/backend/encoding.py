"""Prompts and choices as token ids: the harness's own, each different text encoded once and all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["encode_pairs"]

# Prompt and choice, both as the task made them.
Pair = tuple[str, str]


def encode_pairs(lm: Any, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
    """Split and encode prompts with choices exactly as `TemplateLM.loglikelihood` does for causal models.

    It encodes every prompt twice for each choice, one after another: with long prompts on a GPU, that takes as long as
    the model. Here each different text is encoded once, and fast tokenizers get all of them together.

    Args:
        lm: The harness's model; its `tok_encode` says how a text is encoded.
        pairs: Prompts with choices.

    Returns:
        Token ids of the prompt and of the choice, for each pair.
    """
    # Spaces at a prompt's end belong to its choice, as tokenizers join them with the word after them.
    parts = [(context.rstrip(), context + continuation) for context, continuation in pairs]
    encoded = _encode(lm, list(dict.fromkeys(text for part in parts for text in part)))
    return [
        (encoded[prompt], encoded[whole][len(encoded[prompt]) :]) if context else _without_prompt(lm, continuation)
        for (context, continuation), (prompt, whole) in zip(pairs, parts, strict=True)
    ]


def _without_prompt(lm: Any, continuation: str) -> tuple[list[int], list[int]]:
    ids = lm.tok_encode(continuation, add_special_tokens=False)
    return ([lm.prefix_token_id], ids) if lm.prefix_token_id != ids[0] else (ids[:1], ids[1:])


def _encode(lm: Any, texts: Sequence[str]) -> dict[str, list[int]]:
    if not getattr(lm.tokenizer, "is_fast", False):
        return {text: lm.tok_encode(text) for text in texts}
    beginning = lm.tokenizer.decode(lm.prefix_token_id)
    begun = [text for text in texts if text.startswith(beginning)]  # a chat template that writes the first token
    plain = [text for text in texts if not text.startswith(beginning)]
    special = {} if lm.add_bos_token is None else {"add_special_tokens": lm.add_bos_token}
    encoded: dict[str, list[int]] = {}
    for group, options in ((begun, {"add_special_tokens": False}), (plain, special)):
        if group:
            encoded.update(zip(group, lm.tokenizer(group, **options)["input_ids"], strict=True))
    return encoded
