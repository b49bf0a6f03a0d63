"""Exact match and token F1 of extractive answers (SQuAD), with an Italian normaliser.

Differences from the English script of Rajpurkar et al. (2016): Italian articles and articulated prepositions instead of
"a", "an", "the"; elisions are split ("l'uomo" is "uomo", not "luomo"); numbers stay whole, with their sign; punctuation
separates words instead of gluing them; nothing is ever normalised to the empty string.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from lm_eval_ita.metrics._checks import Mean, mean_defined, reject_str
from lm_eval_ita.metrics.text import fold, is_empty

__all__ = ["Mean", "exact_match", "f1", "mean_defined", "normalize_answer"]

# "collo", "colla", "colle" and the like are left out: they are nouns (neck, glue, hill) in today's Italian.
_ARTICLES = "il lo la i gli le un uno una"
_ARTICULATED = (
    "del dello della dei degli delle al allo alla ai agli alle dal dallo dalla dai dagli dalle "
    "nel nello nella nei negli nelle sul sullo sulla sui sugli sulle col coi"
)
_DROPPED = frozenset(f"{_ARTICLES} {_ARTICULATED}".split())
# Elided forms count only before an apostrophe and a word: "all" alone may be English, "l" a unit.
_ELIDED = re.compile(r"(?<!\w)(?:un|l|dell|all|dall|nell|sull|coll|gl|degl|agl|dagl|negl|sugl)' ?(?=[^\W_])")
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ′", "'") | {"\u2212": "-"})
_TOKEN = re.compile(
    r"""
      (?P<number> (?:(?<![^\s(\["'«“])-)? \d+(?:[.,]\d+)*)   # "-5" keeps its sign; "1990-1995", "Covid-19" are split
    | (?P<initials> (?<!\w)[^\W\d_](?:\.[^\W\d_])+(?!\w)\.?)
    | (?P<other> \S)
    """,
    re.VERBOSE,
)
_PUNCTUATION = frozenset(string.punctuation)


def normalize_answer(text: str) -> str:
    """Reduce an answer to the words that are compared.

    Lower-case NFC; both apostrophes (`'`, `’`) split words; articles and articulated prepositions go as whole tokens
    (elided ones with their apostrophe); punctuation and currency signs become spaces. "3.5" and "3,5" are one token and
    the same answer: translated data holds either decimal sign. "U.S.A." is "usa".

    Args:
        text: A gold answer or a prediction.

    Returns:
        The tokens, joined by single spaces. Empty only if `text` is blank: an answer of articles alone keeps them
        ("La", the note), an answer of punctuation alone keeps it ("%").
    """
    folded = " ".join(fold(text).translate(_APOSTROPHES).split())
    tokens = _split(_ELIDED.sub("", folded))
    kept = [token for token in tokens if token not in _DROPPED]
    return " ".join(kept or tokens) or folded


def exact_match(prediction: str, golds: Sequence[str]) -> float:
    """Tell whether the prediction equals one of the gold answers after normalisation.

    Args:
        prediction: The model's answer.
        golds: The gold answers, at least one. Blank ones are ignored.

    Returns:
        1.0 or 0.0; NaN when there is no gold answer.
    """
    return _best(prediction, golds, lambda answer, gold: float(answer == gold))


def f1(prediction: str, golds: Sequence[str]) -> float:
    """Compute token F1 against the nearest gold answer.

    Args:
        prediction: The model's answer.
        golds: The gold answers, at least one. Blank ones are ignored.

    Returns:
        The maximum over gold answers of the harmonic mean of token precision and recall, in [0, 1] (tokens as a
        multiset); NaN when there is no gold answer.

    Source: Rajpurkar et al. (2016), "SQuAD: 100,000+ Questions for Machine Comprehension of Text".
    """
    return _best(prediction, golds, _token_f1)


def _best(prediction: str, golds: Sequence[str], score: Callable[[str, str], float]) -> float:
    reject_str(golds=golds)
    answer = normalize_answer(prediction)
    return max((score(answer, normalize_answer(gold)) for gold in golds if not is_empty(gold)), default=math.nan)


def _token_f1(answer: str, gold: str) -> float:
    answer_tokens, gold_tokens = answer.split(), gold.split()
    shared = (Counter(answer_tokens) & Counter(gold_tokens)).total()
    return 2.0 * shared / (len(answer_tokens) + len(gold_tokens))


def _split(text: str) -> list[str]:
    """Split folded text into tokens; punctuation separates, numbers and dotted abbreviations stay whole."""

    def keep(match: re.Match[str]) -> str:
        found = match.group()
        if match["number"]:
            return found.replace(",", ".")
        if match["initials"]:
            return found.replace(".", "")
        return " " if _is_punctuation(found) else found

    return _TOKEN.sub(keep, text).split()


def _is_punctuation(character: str) -> bool:
    category = unicodedata.category(character)
    return character in _PUNCTUATION or category.startswith("P") or category == "Sc"
