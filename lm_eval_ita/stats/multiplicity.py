"""Corrections of p-values for testing many hypotheses."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["holm"]


def holm(p_values: ArrayLike) -> list[float]:
    """Holm's step-down adjustment, which controls the family-wise error rate under any dependence.

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure".

    Args:
        p_values: Shape (m,), each in [0, 1] or NaN.

    Returns:
        Adjusted p-values in the order given, in [0, 1]. A NaN stays NaN and does not count among the m hypotheses.

    Raises:
        ValueError: A p-value lies outside [0, 1].
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1:
        raise ValueError("p_values must be one-dimensional")
    known = np.flatnonzero(~np.isnan(p))
    if np.any((p[known] < 0) | (p[known] > 1)):
        raise ValueError("p-values must lie between 0 and 1")
    order: Sequence[int] = known[np.argsort(p[known], kind="stable")].tolist()
    adjusted = np.full(p.shape, np.nan)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * float(p[index])))
        adjusted[index] = running
    return [float(value) for value in adjusted]
