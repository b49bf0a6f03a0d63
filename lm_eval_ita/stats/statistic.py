"""Statistics that a bootstrap or a permutation test can evaluate for thousands of resamples at once.

A score over samples is written as a function of weighted sums: every sample carries a row of numbers, and the score
is `function(weights @ rows)`. A mean carries (value, 1) and divides the two sums; macro F1 carries a one in the cell of
the confusion matrix where the sample lies. A resample is then a vector of weights, a thousand resamples are a matrix,
and samples with equal rows are drawn together: 10,000 samples of a task with three labels are at most 12 kinds.

`function` must not change when all sums are multiplied by one number: weights need not add up to n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, hstack

from lm_eval_ita.stats._checks import reject_str

__all__ = [
    "Floats",
    "Ints",
    "Statistic",
    "SumsToValues",
    "confusion_statistic",
    "difference",
    "from_indices",
    "mean",
    "ratio",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SumsToValues = Callable[[Floats], Floats]
"""From sums, shape (r, d), to values, shape (r,); NaN where there is none."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """A score over n samples, as a function of weighted sums of their rows.

    Attributes:
        rows: Shape (c, d), sparse: the distinct rows.
        row_of: Shape (n,): which row each sample carries; -1 for a missing sample, which is never drawn.
        function: From sums to values. Two statistics measure the same thing when their functions are equal.
    """

    rows: csr_array
    row_of: Ints
    function: SumsToValues


def mean(values: npt.ArrayLike) -> Statistic:
    """The mean of one number per sample: accuracy from 0 and 1, ROUGE, chrF.

    Args:
        values: Shape (n,); NaN is missing and left out.

    Raises:
        TypeError: `values` is a string.
        ValueError: `values` is not one-dimensional, or holds an infinity.
    """
    reject_str(values=values)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or np.isinf(numbers).any():
        raise ValueError("values must be one-dimensional, and finite or NaN")
    missing = np.isnan(numbers)
    distinct, inverse = np.unique(numbers[~missing], return_inverse=True)
    row_of = np.full(len(numbers), -1, dtype=np.int64)
    row_of[~missing] = inverse
    return Statistic(csr_array(np.column_stack([distinct, np.ones_like(distinct)])), row_of, _quotient)


def ratio(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> Statistic:
    """The quotient of two sums: bits per character over texts, errors per word.

    Args:
        numerators: Shape (n,), finite.
        denominators: Shape (n,), finite, none below 0; where a resample's sum is 0, its value is NaN.

    Raises:
        TypeError: One of the two is a string.
        ValueError: Shapes differ, or a value is out of range.
    """
    reject_str(numerators=numerators, denominators=denominators)
    above, below = (np.asarray(values, dtype=np.float64) for values in (numerators, denominators))
    if above.ndim != 1 or above.shape != below.shape:
        raise ValueError("numerators and denominators must be one-dimensional and of one length")
    if not (np.isfinite(above).all() and np.isfinite(below).all() and (below >= 0).all()):
        raise ValueError("numerators and denominators must be finite, denominators not below 0")
    pairs, row_of = np.unique(np.column_stack([above, below]), axis=0, return_inverse=True)
    return Statistic(csr_array(pairs), row_of.reshape(-1).astype(np.int64), _quotient)


def confusion_statistic(
    golds: npt.ArrayLike, preds: npt.ArrayLike, classes: int, function: Callable[[Floats], Floats]
) -> Statistic:
    """Any score that depends on the confusion matrix alone: macro F1, Matthews' correlation.

    Args:
        golds: Shape (n,), numbers of labels from 0 to `classes` - 1 (`metrics.classification.label_ids` makes them).
        preds: Shape (n,), likewise; -1 is an unparsable prediction.
        classes: Number of labels k, at least 1.
        function: From counts, shape (r, k, k + 1), to values, shape (r,): one of `stats.confusion`, or your own.

    Raises:
        TypeError: `golds` or `preds` is a string.
        ValueError: Lengths differ, or a number is out of range or not whole.
    """
    reject_str(golds=golds, preds=preds)
    if classes < 1:
        raise ValueError(f"classes is {classes}; it must be at least 1")
    gold_ids, pred_ids = (_whole(name, ids) for name, ids in (("golds", golds), ("preds", preds)))
    if len(gold_ids) != len(pred_ids):
        raise ValueError(f"lengths differ: golds has {len(gold_ids)}, preds has {len(pred_ids)}")
    if np.any((gold_ids < 0) | (gold_ids >= classes)) or np.any((pred_ids < -1) | (pred_ids >= classes)):
        raise ValueError(f"golds must lie in 0..{classes - 1}, preds in -1..{classes - 1}")
    cells, row_of = np.unique(gold_ids * (classes + 1) + pred_ids % (classes + 1), return_inverse=True)
    rows = csr_array((np.ones(len(cells)), (np.arange(len(cells)), cells)), shape=(len(cells), classes * (classes + 1)))
    return Statistic(rows, row_of.astype(np.int64), _OfConfusion(classes, function))


def from_indices(function: Callable[[Ints], float], n: int) -> Statistic:
    """Any score at all, called once per resample with the indices drawn: slow, and the same engine.

    Args:
        function: From indices into the samples, shape (m,) with repeats, sorted, to one number; NaN for none.
        n: Number of samples.

    Raises:
        ValueError: `n` is negative. Later, a method asks for fractional weights, which indices cannot express:
            several strata with method "bca" or "expanded".
    """
    if n < 0:
        raise ValueError(f"n is {n}; it must not be negative")
    every = np.arange(n, dtype=np.int64)
    return Statistic(csr_array((np.ones(n), (every, every)), shape=(n, n)), every, _OnIndices(function))


def difference(first: Statistic, second: Statistic) -> Statistic:
    """`first` - `second` over the same samples: a resample draws a sample for both or for neither.

    A sample that is missing in one of the two is missing in the difference.

    Raises:
        ValueError: The two have different numbers of samples.
    """
    if len(first.row_of) != len(second.row_of):
        raise ValueError(f"lengths differ: first has {len(first.row_of)}, second has {len(second.row_of)}")
    known = (first.row_of >= 0) & (second.row_of >= 0)
    width = max(second.rows.shape[0], 1)
    pairs, inverse = np.unique(first.row_of[known] * width + second.row_of[known], return_inverse=True)
    row_of = np.full(len(known), -1, dtype=np.int64)
    row_of[known] = inverse
    rows = hstack([first.rows[pairs // width], second.rows[pairs % width]], format="csr")
    return Statistic(csr_array(rows), row_of, _Difference(first.function, second.function, first.rows.shape[1]))


def _quotient(sums: Floats) -> Floats:
    quotients = np.full(len(sums), np.nan)
    np.divide(sums[:, 0], sums[:, 1], out=quotients, where=sums[:, 1] > 0)
    return quotients


def _whole(name: str, ids: npt.ArrayLike) -> Ints:
    array = np.asarray(ids)
    if array.ndim != 1 or not (array.size == 0 or np.issubdtype(array.dtype, np.integer)):
        raise ValueError(f"{name} must be a one-dimensional list of whole numbers")
    return array.astype(np.int64)


@dataclass(frozen=True)
class _OfConfusion:
    classes: int
    function: Callable[[Floats], Floats]

    def __call__(self, sums: Floats) -> Floats:
        return self.function(sums.reshape(-1, self.classes, self.classes + 1))


@dataclass(frozen=True)
class _OnIndices:
    function: Callable[[Ints], float]

    def __call__(self, sums: Floats) -> Floats:
        repeats = np.rint(sums).astype(np.int64)
        if not np.array_equal(repeats, sums):
            raise ValueError("a function of indices takes whole weights: with several strata use method 'percentile'")
        every = np.arange(sums.shape[1])
        return np.array([self.function(np.repeat(every, row)) for row in repeats], dtype=np.float64)


@dataclass(frozen=True)
class _Difference:
    first: SumsToValues
    second: SumsToValues
    split: int

    def __call__(self, sums: Floats) -> Floats:
        return self.first(sums[:, : self.split]) - self.second(sums[:, self.split :])
