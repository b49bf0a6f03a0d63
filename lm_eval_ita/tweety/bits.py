"""Bits per character and tokens per word: figures that models with different tokenizers can be compared by."""

import math
from collections.abc import Sequence
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.parallel import word_spans

__all__ = ["bits_of_texts", "bits_per_character", "fertility"]

_WINDOW = 256
_BATCH_TOKENS = 1024


def fertility(tokenizer: Any, texts: Sequence[str]) -> float:
    """Tokens per word: words are runs of letters and digits, elided articles and punctuation marks apart.

    Returns:
        At least about 1; the published figure of English tokenizers on Italian is near 2.

    Raises:
        UserError: The texts hold no word.
    """
    words = sum(len(word_spans(text)) for text in texts)
    if not words:
        raise UserError("the held-out text holds no words")
    encoded = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    return sum(map(len, encoded)) / words


def bits_per_character(model: Any, tokenizer: Any, texts: Sequence[str]) -> float:
    """The information that a model finds in texts, in bits per Unicode character; the lower, the better it predicts.

    Args:
        model, tokenizer, texts: As `bits_of_texts` takes them.

    Raises:
        UserError: There is no character in the texts, or the tokenizer has neither `bos` nor `eos`.
    """
    characters = sum(map(len, texts))
    if not characters:
        raise UserError("the held-out text is empty")
    return sum(bits_of_texts(model, tokenizer, texts)) / characters


def bits_of_texts(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[float]:
    """The information that a model finds in each text, in bits.

    Every text is read apart after the token that begins a text (`bos`, else `eos`), in windows of 256 tokens, and
    every token of it is predicted; the end of the text is not.

    Args:
        model: A causal language model of transformers, on any device. Its mode is kept.
        tokenizer: Its tokenizer.
        texts: Texts held out of training.

    Returns:
        One number for each text; 0 for an empty one.

    Raises:
        UserError: The tokenizer has neither `bos` nor `eos`.
    """
    import torch

    first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    if first is None:
        raise UserError("the tokenizer has neither a token that begins a text nor one that ends it")
    nats = [0.0] * len(texts)
    windows = _windows(tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else [], first)
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            for batch in _batches(windows):
                for (text, _), value in zip(batch, _nats(model, [window for _, window in batch]), strict=True):
                    nats[text] += value
    finally:
        model.train(training)
    return [value / math.log(2) for value in nats]


# Number of its text, and tokens: the first is not predicted.
_Window = tuple[int, list[int]]


def _windows(texts: Sequence[Sequence[int]], first: int) -> list[_Window]:
    """Each text in windows; a window begins with the token before it."""
    windows = []
    for number, text in enumerate(texts):
        tokens = [first, *text]
        windows += [(number, tokens[start : start + _WINDOW + 1]) for start in range(0, len(text), _WINDOW)]
    return windows


def _batches(windows: Sequence[_Window]) -> list[list[_Window]]:
    batches: list[list[_Window]] = []
    for window in sorted(windows, key=lambda window: len(window[1]), reverse=True):
        if not batches or (len(batches[-1]) + 1) * len(batches[-1][0][1]) > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(window)
    return batches


def _nats(model: Any, batch: Sequence[Sequence[int]]) -> list[float]:
    """Of each window, the negative log-likelihood of its tokens after the first."""
    import torch

    longest = max(map(len, batch))
    # Padding stands at the end, where it can change nothing that is counted.
    tokens = torch.tensor([[*window, *[window[0]] * (longest - len(window))] for window in batch])
    wanted = torch.tensor([[*window[1:], *[-100] * (longest - len(window))] for window in batch])
    device = next(model.parameters()).device
    logits = model(input_ids=tokens[:, :-1].to(device), use_cache=False).logits.float()
    loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten().to(device), ignore_index=-100, reduction="none"
    )
    return [float(value) for value in loss.view(len(batch), -1).sum(dim=1, dtype=torch.float64)]
