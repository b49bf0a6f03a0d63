"""ROUGE-1, ROUGE-2 and ROUGE-L through the `rouge_score` library, with a tokenizer that keeps accented letters.

The library's default tokenizer deletes every character outside `a-z0-9`: "perché" becomes "perch", "è" vanishes. Ours
splits folded NFC text into Unicode words. Scores are therefore not comparable with those of the default tokenizer;
`TOKENIZATION` states this and belongs in the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lm_eval_ita.metrics._checks import check_same_length, reject_str
from lm_eval_ita.metrics.text import word_tokens

__all__ = ["TOKENIZATION", "Rouge", "rouge"]

TOKENIZATION = "Unicode words after NFC and case folding; no stemming"


@dataclass(frozen=True)
class Rouge:
    """F-measures of one text, each in [0, 1]. The names are those of the field."""

    rouge1: float
    rouge2: float
    rougeL: float


def rouge(predictions: Sequence[str], references: Sequence[str]) -> list[Rouge]:
    """Score each prediction against its reference.

    ROUGE-L takes the text as one sequence, newlines included (`rougeL`, not `rougeLsum`).

    Args:
        predictions: Model outputs, shape (n,).
        references: Reference texts, shape (n,).

    Returns:
        One `Rouge` per pair. A prediction or reference without words scores 0; a text of one word has no bigram, hence
        ROUGE-2 is 0.

    Raises:
        ValueError: If lengths differ.

    Source: Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries".
    """
    from rouge_score.rouge_scorer import RougeScorer

    reject_str(predictions=predictions, references=references)
    check_same_length(predictions=predictions, references=references)
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=_WordTokenizer())
    scores = (scorer.score(ref, pred) for ref, pred in zip(references, predictions, strict=True))
    return [Rouge(**{name: float(score.fmeasure) for name, score in row.items()}) for row in scores]


class _WordTokenizer:
    """`word_tokens` under the method name that rouge_score calls."""

    def tokenize(self, text: str) -> list[str]:
        return word_tokens(text)
