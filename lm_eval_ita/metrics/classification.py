"""Classification metrics over a task's fixed label list: accuracy, macro F1, MCC, baselines.

Two labels are the same when their text is the same: `1`, `"1"`, `numpy.int64(1)` and `True` are one label, so a data
set that holds integers and a parser that returns strings can be compared.

An unparsable prediction (`None`, `"[invalid]"`, anything outside the label list) is wrong. It is not a class of its
own: it lowers the recall of its gold class and adds nothing to the average.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lm_eval_ita.metrics._checks import check_same_length, reject_str
from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts

__all__ = [
    "INVALID",
    "Baseline",
    "Baselines",
    "Mcc",
    "accuracy",
    "baselines",
    "confusion",
    "f1_macro",
    "label_ids",
    "mcc",
    "unparsable_rate",
]

INVALID = "[invalid]"
"""The marker of an unparsable prediction in samples; `None` means the same."""

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mcc:
    """Matthews correlation coefficient.

    Attributes:
        value: In [-1, 1]; 0.0 when undefined, NaN when there are no rows.
        undefined: True when golds or predictions are constant (or there are none): the formula is 0/0 then.
    """

    value: float
    undefined: bool


@dataclass(frozen=True)
class Baseline:
    """Scores of a classifier that does not read its input."""

    acc: float
    f1_macro: float
    mcc: float


@dataclass(frozen=True)
class Baselines:
    """What a score has to beat.

    Attributes:
        chance: A uniform random guess over the labels (expected values).
        majority: Always the commonest gold label.
        majority_label: That label, as given in the label list; None when there are no rows.
    """

    chance: Baseline
    majority: Baseline
    majority_label: Hashable


def accuracy(golds: Sequence[Hashable], preds: Sequence[Hashable]) -> float:
    """Return the share of predictions equal to their gold label, in [0, 1]; NaN for an empty input.

    Args:
        golds: Gold labels, shape (n,).
        preds: Predictions, shape (n,). Unparsable ones are wrong.
    """
    reject_str(golds=golds, preds=preds)
    n = check_same_length(golds=golds, preds=preds)
    if not n:
        return math.nan
    right = sum(p is not None and _key(g) == _key(p) for g, p in zip(golds, preds, strict=True))
    return right / n


def unparsable_rate(preds: Sequence[Hashable], labels: Sequence[Hashable]) -> float:
    """Return the share of predictions outside the label list, in [0, 1]; NaN for an empty input."""
    reject_str(preds=preds, labels=labels)
    if not len(preds):
        return math.nan
    return float(np.mean(_encode(preds, _index(labels)) < 0))


def label_ids(values: Sequence[Hashable], labels: Sequence[Hashable]) -> _Ints:
    """Number golds or predictions by the label list, as the bootstrap (`stats.statistic`) wants them.

    Args:
        values: Shape (n,).
        labels: The task's label list, length k, no label twice.

    Returns:
        Shape (n,): the position in `labels`, -1 for an unparsable value.

    Raises:
        ValueError: If a label is there twice or the list is empty.
    """
    reject_str(values=values, labels=labels)
    return _encode(values, _index(labels))


def confusion(golds: Sequence[Hashable], preds: Sequence[Hashable], labels: Sequence[Hashable]) -> _Ints:
    """Count predictions by gold label.

    Args:
        golds: Gold labels, shape (n,), all in `labels`.
        preds: Predictions, shape (n,).
        labels: The task's label list, length k, no label twice.

    Returns:
        Shape (k, k + 1): rows are gold labels, columns predicted labels in the order of `labels`; the last column
        counts unparsable predictions.

    Raises:
        ValueError: If a gold label is not in the list, a label is there twice or lengths differ.
    """
    reject_str(golds=golds, preds=preds, labels=labels)
    check_same_length(golds=golds, preds=preds)
    index = _index(labels)
    k = len(index)
    gold_ids = _encode(golds, index)
    if (gold_ids < 0).any():
        stranger = golds[int(np.argmax(gold_ids < 0))]
        raise ValueError(f"gold label {stranger!r} is not in the label list {list(labels)!r}")
    pred_ids = _encode(preds, index)
    pred_ids[pred_ids < 0] = k
    counts = np.bincount(gold_ids * (k + 1) + pred_ids, minlength=k * (k + 1))
    return counts.astype(np.int64).reshape(k, k + 1)


def f1_macro(golds: Sequence[Hashable], preds: Sequence[Hashable], labels: Sequence[Hashable]) -> float:
    """Average F1 over the task's fixed label list, unweighted.

    A label that is neither gold nor predicted scores 0 (`zero_division=0`) and stays in the average, so scores of two
    runs average over the same labels. Equal to `sklearn.metrics.f1_score(..., labels=labels, average="macro",
    zero_division=0)` once all labels are strings.

    Args:
        golds: Gold labels, shape (n,), all in `labels`.
        preds: Predictions, shape (n,). Unparsable ones are wrong.
        labels: The task's label list, length k.

    Returns:
        A value in [0, 1]; NaN for an empty input.

    Raises:
        ValueError: If a gold label is not in the list, a label is there twice or lengths differ.
    """
    return float(f1_macro_from_counts(confusion(golds, preds, labels)))


def mcc(golds: Sequence[Hashable], preds: Sequence[Hashable], labels: Sequence[Hashable] | None = None) -> Mcc:
    """Compute Matthews' correlation, in Gorodkin's form for any number of classes.

    An unparsable prediction cannot be moved to a class without inventing an answer. It is kept as one predicted value
    that no gold label equals: it never agrees, and it makes the predictions less constant, as in
    `sklearn.metrics.matthews_corrcoef`.

    Args:
        golds: Gold labels, shape (n,).
        preds: Predictions, shape (n,).
        labels: The task's label list: predictions outside it count as one unparsable value. Without it only `None`
            and `"[invalid]"` do.

    Returns:
        The value, 0.0 and flagged when golds or predictions are constant; NaN and flagged for an empty input.

    Raises:
        ValueError: If `labels` is given and a gold label is not in it, or lengths differ.

    Source: Gorodkin (2004), "Comparing two K-category assignments by a K-category correlation coefficient".
    """
    reject_str(golds=golds, preds=preds, labels=labels)
    n = check_same_length(golds=golds, preds=preds)
    if not n:
        return Mcc(math.nan, undefined=True)
    if labels is None:
        values = dict.fromkeys(_key(label) for label in [*golds, *preds])
        values.pop(INVALID, None)
        labels = list(values)
    counts = confusion(golds, preds, labels)
    constant = bool(np.count_nonzero(counts.sum(axis=1)) < 2 or np.count_nonzero(counts.sum(axis=0)) < 2)
    return Mcc(float(mcc_from_counts(counts)), undefined=constant)


def baselines(golds: Sequence[Hashable], labels: Sequence[Hashable]) -> Baselines:
    """Compute the scores of guessing and of always answering the commonest label.

    Args:
        golds: Gold labels of the evaluated split, shape (n,), all in `labels`.
        labels: The task's label list, length k.

    Returns:
        Chance: accuracy 1/k, MCC 0 and the large-sample macro F1 of a uniform guess, the mean over labels of
        2s/(ks + 1) for a label of gold share s. Majority: accuracy s, F1 2s/(1 + s)/k, MCC 0 for the largest s; of
        equally common labels the first in the list. All NaN (majority label None) for an empty input.
    """
    reject_str(golds=golds, labels=labels)
    if not len(golds):
        missing = Baseline(math.nan, math.nan, math.nan)
        return Baselines(missing, missing, None)
    shares = confusion(golds, golds, labels).sum(axis=1) / len(golds)
    k = len(shares)
    top = int(np.argmax(shares))
    largest = float(shares[top])
    # A uniform guess has recall 1/k and precision s on a label of share s: F1 = 2(s/k)/(s + 1/k).
    chance_f1 = float(np.mean(2.0 * shares / (k * shares + 1.0)))
    return Baselines(
        chance=Baseline(acc=1.0 / k, f1_macro=chance_f1, mcc=0.0),
        majority=Baseline(acc=largest, f1_macro=2.0 * largest / (1.0 + largest) / k, mcc=0.0),
        majority_label=labels[top],
    )


def _key(label: Hashable) -> str:
    """Return the text that identifies a label: `True`, `1`, `numpy.int64(1)` and `"1"` all give `"1"`."""
    if label is None:
        return INVALID
    if isinstance(label, (bool, np.bool_)):
        return str(int(label))
    return str(label)


def _index(labels: Sequence[Hashable]) -> dict[str, int]:
    if not len(labels):
        raise ValueError("the label list is empty")
    index = {_key(label): position for position, label in enumerate(labels)}
    if len(index) != len(labels) or INVALID in index:
        raise ValueError(f"the label list holds a label twice, None or {INVALID!r}: {list(labels)!r}")
    return index


def _encode(values: Sequence[Hashable], index: dict[str, int]) -> _Ints:
    """Map values to positions in the label list, shape (n,); -1 where the list has no such label."""
    return np.fromiter((index.get(_key(value), -1) for value in values), dtype=np.int64, count=len(values))
