"""Macro F1 and Matthews' correlation as functions of confusion counts, many matrices at once.

The metrics evaluate one matrix, the bootstrap ten thousand: both call these. The last axes of `counts` are gold labels
(k rows) and predicted labels (k + 1 columns, the last for unparsable predictions). Counts may be fractional: a
bootstrap weighs its draws. Neither value changes when all counts are multiplied by one number.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["f1_macro_from_counts", "mcc_from_counts"]

_Floats = npt.NDArray[np.float64]

# Weighted counts carry rounding errors: a spread this small beside n squared is that of a constant.
_ROUNDING = 1e-12


def f1_macro_from_counts(counts: npt.ArrayLike) -> _Floats:
    """Average F1 over the k labels, unweighted; a label neither gold nor predicted scores 0.

    Args:
        counts: Shape (..., k, k + 1), not negative.

    Returns:
        Shape (...), in [0, 1]; NaN where all counts are 0.

    Raises:
        ValueError: The last two axes are not k and k + 1.
    """
    table = _checked(counts)
    k = table.shape[-2]
    hits = np.diagonal(table, axis1=-2, axis2=-1)
    involved = table.sum(axis=-1) + table[..., :k].sum(axis=-2)  # 2 TP + FP + FN
    scores = np.divide(2.0 * hits, involved, out=np.zeros_like(involved), where=involved > 0)
    return _missing_where_empty(scores.mean(axis=-1), table)


def mcc_from_counts(counts: npt.ArrayLike) -> _Floats:
    """Matthews' correlation in Gorodkin's form; the unparsable column is one more predicted value, never right.

    Source: Gorodkin (2004), "Comparing two K-category assignments by a K-category correlation coefficient".

    Args:
        counts: Shape (..., k, k + 1), not negative.

    Returns:
        Shape (...), in [-1, 1]; 0 where golds or predictions are constant, NaN where all counts are 0.

    Raises:
        ValueError: The last two axes are not k and k + 1.
    """
    table = _checked(counts)
    true, predicted = table.sum(axis=-1), table.sum(axis=-2)
    n = true.sum(axis=-1)
    true_spread = n * n - (true * true).sum(axis=-1)
    predicted_spread = n * n - (predicted * predicted).sum(axis=-1)
    hits = np.trace(table, axis1=-2, axis2=-1)
    agreement = np.asarray(n * hits - (true * predicted[..., :-1]).sum(axis=-1))
    defined = np.minimum(true_spread, predicted_spread) > _ROUNDING * n * n
    scale = np.sqrt(np.where(defined, true_spread * predicted_spread, 1.0))
    return _missing_where_empty(np.where(defined, agreement / scale, 0.0), table)


def _checked(counts: npt.ArrayLike) -> _Floats:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim < 2 or table.shape[-1] != table.shape[-2] + 1:
        raise ValueError(f"counts have shape {table.shape}; the last two axes must be k and k + 1")
    return table


def _missing_where_empty(values: npt.NDArray[Any], table: _Floats) -> _Floats:
    return np.where(table.any(axis=(-2, -1)), values, np.nan)
