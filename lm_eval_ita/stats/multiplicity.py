"""Corrections of p-values for testing many hypotheses."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lm_eval_ita.stats._checks import reject_str

__all__ = ["benjamini_hochberg", "holm"]


def holm(p_values: npt.ArrayLike) -> list[float]:
    """Holm's step-down adjustment, which controls the family-wise error rate under any dependence.

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure".

    Args:
        p_values: Shape (m,), each in [0, 1] or NaN.

    Returns:
        Adjusted p-values in the order given, in [0, 1]. A NaN stays NaN and does not count among the m hypotheses.

    Raises:
        TypeError: `p_values` is a string.
        ValueError: A p-value lies outside [0, 1], or the list is not one-dimensional.
    """
    p, known = _checked(p_values)
    order: Sequence[int] = known[np.argsort(p[known], kind="stable")].tolist()
    adjusted = np.full(p.shape, np.nan)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * float(p[index])))
        adjusted[index] = running
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: npt.ArrayLike) -> list[float]:
    """Benjamini and Hochberg's step-up adjustment, which controls the false discovery rate.

    It holds for independent tests and for positively dependent ones (Benjamini and Yekutieli 2001).

    Source: Benjamini and Hochberg (1995), "Controlling the false discovery rate: a practical and powerful approach to
    multiple testing".

    Args:
        p_values: Shape (m,), each in [0, 1] or NaN.

    Returns:
        Adjusted p-values in the order given, in [0, 1]. A NaN stays NaN and does not count among the m hypotheses.

    Raises:
        TypeError: `p_values` is a string.
        ValueError: A p-value lies outside [0, 1], or the list is not one-dimensional.
    """
    # scipy.stats takes a second to import, which every command would pay for Holm's correction.
    from scipy.stats import false_discovery_control

    p, known = _checked(p_values)
    adjusted = np.full(p.shape, np.nan)
    adjusted[known] = false_discovery_control(p[known], method="bh")
    return [float(value) for value in adjusted]


def _checked(p_values: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """The p-values, and where they are known."""
    reject_str(p_values=p_values)
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError("p_values must be one-dimensional")
    known = np.flatnonzero(~np.isnan(p))
    if np.any((p[known] < 0) | (p[known] > 1)):
        raise ValueError("p-values must lie between 0 and 1")
    return p, known
