"""Per-question metrics from the log-likelihoods of the choices: acc, acc_norm, mc1, mc2.

Each function scores one question. A question has no value, NaN, when a log-likelihood is NaN or +inf or when all are
-inf: nothing can be ranked then. `mean_defined` averages questions and counts those without a value.

Ties go to the choice that comes first, as in lm-evaluation-harness (`numpy.argmax`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lm_eval_ita.metrics._checks import Mean, check_same_length, mean_defined, reject_str

__all__ = ["Mean", "acc", "acc_norm", "best", "best_per_character", "mc1", "mc2", "mean_defined"]

_Floats = npt.NDArray[np.float64]


def acc(lls: Sequence[float], gold: int) -> float:
    """Tell whether the likeliest choice is the right one.

    Args:
        lls: Summed log-likelihood of each choice, shape (k,).
        gold: Position of the right choice, 0 to k - 1.

    Returns:
        1.0 or 0.0; NaN when the log-likelihoods rank nothing.

    Raises:
        ValueError: If `gold` is not a position.
    """
    chosen = best(lls)
    _check_gold(gold, len(lls))
    return _is_right(chosen, gold)


def acc_norm(lls: Sequence[float], choices: Sequence[str], gold: int) -> float:
    """Tell whether the choice of highest log-likelihood per character is the right one.

    The harness's rule: divided by the length of the choice text in characters, without the delimiter before it. An
    empty choice is never picked.

    Args:
        lls: Summed log-likelihood of each choice, shape (k,).
        choices: The choice texts, shape (k,).
        gold: Position of the right choice, 0 to k - 1.

    Returns:
        1.0 or 0.0; NaN when the log-likelihoods rank nothing.

    Raises:
        ValueError: If lengths differ or `gold` is not a position.
    """
    chosen = best_per_character(lls, choices)
    _check_gold(gold, len(lls))
    return _is_right(chosen, gold)


def best(lls: Sequence[float]) -> int | None:
    """The position of the likeliest choice, the first of equals; None when the log-likelihoods rank nothing.

    Args:
        lls: Summed log-likelihood of each choice, shape (k,).
    """
    return _first_best(_log_likelihoods(lls))


def best_per_character(lls: Sequence[float], choices: Sequence[str]) -> int | None:
    """The position of the choice that `acc_norm` compares with the right one; None as for `best`.

    Args:
        lls: Summed log-likelihood of each choice, shape (k,).
        choices: The choice texts, shape (k,).

    Raises:
        ValueError: If lengths differ.
    """
    reject_str(choices=choices)
    scores = _log_likelihoods(lls)
    check_same_length(lls=lls, choices=choices)
    lengths = np.array([len(choice) for choice in choices], dtype=np.float64)
    per_character = np.divide(scores, lengths, out=np.full(len(scores), -np.inf), where=lengths > 0)
    return _first_best(per_character) if _is_ranking(scores) else None


def mc1(lls: Sequence[float], labels: Sequence[int]) -> float:
    """Tell whether the likeliest answer is a true one (TruthfulQA MC1).

    Args:
        lls: Summed log-likelihood of each answer, shape (k,).
        labels: 1 for a true answer, 0 for a false one, shape (k,), in any order.

    Returns:
        1.0 or 0.0; NaN when the log-likelihoods rank nothing.

    Source: Lin et al. (2022), "TruthfulQA: Measuring How Models Mimic Human Falsehoods".
    """
    scores, true = _log_likelihoods(lls), _truth(lls, labels)
    return float(true[int(np.argmax(scores))]) if _is_ranking(scores) else math.nan


def mc2(lls: Sequence[float], labels: Sequence[int]) -> float:
    """Compute the share of probability mass that lies on the true answers (TruthfulQA MC2).

    Computed with log-sum-exp, so answers of log-likelihood -1000 do not vanish. By definition it is 1.0 when all
    answers are true and 0.0 when none is: the mass is known, although such a question says nothing about the model.

    Args:
        lls: Summed log-likelihood of each answer, shape (k,).
        labels: 1 for a true answer, 0 for a false one, shape (k,), in any order.

    Returns:
        A value in [0, 1]; NaN when the log-likelihoods rank nothing.

    Source: Lin et al. (2022), "TruthfulQA: Measuring How Models Mimic Human Falsehoods".
    """
    scores, true = _log_likelihoods(lls), _truth(lls, labels)
    if not _is_ranking(scores):
        return math.nan
    mass = np.exp(scores - scores.max())
    # Summed apart: a sum over all in another order may be rounded below its part.
    on_true = mass[true].sum()
    return float(on_true / (on_true + mass[~true].sum()))


def _log_likelihoods(lls: Sequence[float]) -> _Floats:
    reject_str(lls=lls)
    scores = np.asarray(lls, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"lls must be one number per choice, got shape {scores.shape}")
    return scores


def _truth(lls: Sequence[float], labels: Sequence[int]) -> npt.NDArray[np.bool_]:
    reject_str(labels=labels)
    check_same_length(lls=lls, labels=labels)
    true = np.asarray(labels)
    if not np.isin(true, (0, 1)).all():
        raise ValueError(f"labels must be 0 or 1, got {list(labels)!r}")
    return true.astype(bool)


def _check_gold(gold: int, k: int) -> None:
    if not 0 <= gold < k:
        raise ValueError(f"gold is {gold}, but there are {k} choices, counted from 0")


def _is_ranking(scores: _Floats) -> bool:
    """Tell whether there is a highest value: no NaN, no +inf, at least one finite."""
    return len(scores) > 0 and bool(np.isfinite(scores.max()))  # max() is NaN as soon as one value is


def _first_best(scores: _Floats) -> int | None:
    return int(np.argmax(scores)) if _is_ranking(scores) else None


def _is_right(chosen: int | None, gold: int) -> float:
    return math.nan if chosen is None else float(chosen == gold)
