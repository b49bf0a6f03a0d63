"""Corpus chrF through `sacrebleu`."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_ita.metrics._checks import check_same_length, reject_str
from lm_eval_ita.metrics.text import nfc

__all__ = ["chrf"]


def chrf(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Compute corpus chrF2: character 1- to 6-grams, beta 2, no word n-grams, white space ignored.

    Counts are pooled over the corpus, so long texts weigh more. Texts are brought to NFC first: sacrebleu does not, and
    "è" would differ from "e" with a combining accent.

    Args:
        predictions: Model outputs, shape (n,).
        references: One reference each, shape (n,).

    Returns:
        A value in [0, 100], sacrebleu's scale; NaN for an empty input.

    Raises:
        ValueError: If lengths differ.

    Source: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation".
    """
    reject_str(predictions=predictions, references=references)
    if not check_same_length(predictions=predictions, references=references):
        return float("nan")
    from sacrebleu.metrics.chrf import CHRF

    scorer = CHRF(char_order=6, word_order=0, beta=2)
    return float(scorer.corpus_score(list(map(nfc, predictions)), [list(map(nfc, references))]).score)
