"""What text metrics share: Unicode folding, word tokens, and the share of copied and empty outputs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lm_eval_ita.metrics._checks import check_same_length, reject_str

__all__ = ["copied", "copied_rate", "empty_rate", "fold", "is_empty", "nfc", "visible", "word_tokens"]

# Letters and digits of any script, with the combining marks that have no composed form.
_WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
# Soft hyphen, zero-width characters and byte-order mark: they take no room, so they neither split nor fill a text.
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])


def nfc(text: str) -> str:
    """Return `text` in Unicode NFC: `e` + combining grave becomes `è`."""
    return unicodedata.normalize("NFC", text)


def visible(text: str) -> str:
    """Return `text` in NFC, without characters that take no room (soft hyphen, zero-width space)."""
    return nfc(nfc(text).translate(_INVISIBLE))


def fold(text: str) -> str:
    """Return `text` case-folded, in NFC, without characters that take no room."""
    return nfc(visible(text).casefold())


def word_tokens(text: str) -> list[str]:
    """Split `text` into folded Unicode words.

    Args:
        text: Any text.

    Returns:
        Maximal runs of letters and digits after `fold`. Accented letters stay inside their word (`perché` is one
        token); apostrophes, hyphens, underscores and all punctuation separate (`l'uomo` is `l`, `uomo`).
    """
    return _WORD.findall(fold(text))


def is_empty(text: str) -> bool:
    """Tell whether `text` holds nothing but white space and characters that take no room."""
    return not text.translate(_INVISIBLE).strip()


def copied(prediction: str, source: str) -> bool:
    """Tell whether the model gave its source back.

    Args:
        prediction: The model's output.
        source: The text that it was asked to change.

    Returns:
        True when both are equal after NFC, case folding and collapsing of white space. An empty prediction is never
        a copy: it is counted by `empty_rate`.
    """
    folded = " ".join(fold(prediction).split())
    return bool(folded) and folded == " ".join(fold(source).split())


def copied_rate(predictions: Sequence[str], sources: Sequence[str]) -> float:
    """Return the share of predictions that are copies of their source, in [0, 1]; NaN for an empty input.

    Args:
        predictions: Model outputs, shape (n,).
        sources: Their sources, shape (n,).
    """
    reject_str(predictions=predictions, sources=sources)
    n = check_same_length(predictions=predictions, sources=sources)
    return sum(map(copied, predictions, sources)) / n if n else float("nan")


def empty_rate(predictions: Sequence[str]) -> float:
    """Return the share of predictions that are empty or blank, in [0, 1]; NaN for an empty input."""
    reject_str(predictions=predictions)
    return sum(map(is_empty, predictions)) / len(predictions) if predictions else float("nan")
