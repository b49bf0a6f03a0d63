"""Covariances of several models' scores on the same documents, by leaving out one document at a time.

Source: Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11 (jackknife standard error). For the
smooth statistics here (means, macro F1, Matthews' correlation) it agrees with the bootstrap, and one pass over the
documents serves all pairs of many models, where the bootstrap needs a run a pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from lm_eval_ita.stats.resampling import group_units, total
from lm_eval_ita.stats.statistic import Floats, Statistic

__all__ = ["covariance", "influences", "z_test"]

_BLOCK = 1 << 20


def influences(statistic: Statistic) -> Floats:
    """How each sample pulls the statistic: (n - 1) (mean of the values without one sample - value without this one).

    For a mean this is the sample's deviation from it.

    Returns:
        Shape (n,), summing to 0; 0 for a missing sample. All NaN where there are fewer than two samples, or the
        statistic has no value without some sample.
    """
    known = statistic.row_of >= 0
    n = int(known.sum())
    found = np.zeros(len(statistic.row_of))
    if n < 2:
        return np.full(len(found), math.nan)
    sums = total(group_units(statistic))
    kinds = statistic.rows.shape[0]
    block = max(1, _BLOCK // max(1, statistic.rows.shape[1]))
    left_out = np.concatenate(
        [statistic.function(sums - statistic.rows[start : start + block].toarray()) for start in range(0, kinds, block)]
    )
    without = left_out[statistic.row_of[known]]
    found[known] = (n - 1) * (without.mean() - without)
    return found


def covariance(statistics: Sequence[Statistic]) -> Floats:
    """The jackknife covariance of several models' values of one statistic over the same samples.

    Args:
        statistics: One a model, each over the same n samples in the same order.

    Returns:
        Shape (m, m). For means it is the sample covariance of the values, divided by n. NaN as for `influences`.

    Raises:
        ValueError: Lengths differ.
    """
    if len({len(statistic.row_of) for statistic in statistics}) > 1:
        raise ValueError("the statistics are over different numbers of samples")
    pulls = [influences(statistic) for statistic in statistics]
    counts = [max(2, int((statistic.row_of >= 0).sum())) for statistic in statistics]
    scaled = np.stack([pull / math.sqrt(n * (n - 1)) for pull, n in zip(pulls, counts, strict=True)])
    return scaled @ scaled.T


def z_test(values: npt.ArrayLike, covariances: npt.ArrayLike) -> Floats:
    """Two-sided p-values of "these two are equal" for every pair, from a normal approximation.

    Args:
        values: Shape (m,).
        covariances: Shape (m, m), of the values.

    Returns:
        Shape (m, m), symmetric, 1 on the diagonal. NaN where a number is missing, or where two different values never
        differ in spread, so that there is nothing to test with; 1 where they are equal throughout.
    """
    scores, spread = np.asarray(values, dtype=np.float64), np.asarray(covariances, dtype=np.float64)
    steps = scores[:, None] - scores[None, :]
    own = np.diag(spread)
    # Rounding leaves a trace of variance between models that answer alike.
    variance = own[:, None] + own[None, :] - 2 * spread
    variance = np.where(variance <= 1e-12 * (own[:, None] + own[None, :]), 0.0, variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * ndtr(-np.abs(steps) / np.sqrt(variance))
    p = np.where(variance == 0, np.where(np.abs(steps) < 1e-12, 1.0, math.nan), p)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p, dtype=np.float64)
