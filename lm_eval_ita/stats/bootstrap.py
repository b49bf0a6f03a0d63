"""Bootstrap intervals for any statistic of per-sample records, with clusters and strata.

Sources: Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapters 13 and 14 (percentile, BCa); Davison
and Hinkley (1997), "Bootstrap Methods and their Application", section 5.3 (acceleration over several strata, p-value by
inversion); Cameron, Gelbach and Miller (2008), "Bootstrap-based improvements for inference with clustered errors", for
resampling whole clusters; Rao and Wu (1988), "Resampling inference with complex survey data", and Hesterberg (2015),
"What teachers should know about the bootstrap", for few units.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from lm_eval_ita.stats._checks import check_level, check_resamples
from lm_eval_ita.stats.resampling import Stratum, group_units, leave_one_out_sums, resampled_sums, total
from lm_eval_ita.stats.statistic import Floats, Statistic

__all__ = ["BootstrapDistribution", "BootstrapEstimate", "Method", "bootstrap"]

Method = Literal["percentile", "bca", "expanded"]

# Values that differ by rounding alone are ties.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class BootstrapEstimate:
    """A statistic with its uncertainty.

    Attributes:
        estimate: The statistic of the samples.
        standard_error: Standard deviation of the bootstrap values; NaN where a stratum has fewer than two units.
        low, high: Bounds of the interval; NaN likewise, and where a resample, or for BCa the samples
            without one unit, have no value.
        level: Confidence level of the interval, 0 to 1.
        resamples: Number of bootstrap resamples.
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    resamples: int


@dataclass(frozen=True, eq=False)
class BootstrapDistribution:
    """The values of a statistic over resamples, and how to read them.

    Attributes:
        estimate: The statistic of the samples; NaN for no samples.
        values: Shape (resamples,): the statistic of each resample; all NaN where a stratum has fewer than two units.
        bias_correction, acceleration: z0 and a of BCa; 0 for other methods.
        degrees_of_freedom: Of the t distribution of "expanded"; infinite for other methods.
    """

    estimate: float
    values: Floats
    bias_correction: float = 0.0
    acceleration: float = 0.0
    degrees_of_freedom: float = math.inf

    def interval(self, level: float = 0.95) -> BootstrapEstimate:
        """The two-sided interval of a confidence level between 0 and 1, exclusive.

        Raises:
            ValueError: `level` is out of range.
        """
        check_level(level)
        tail = (1 - level) / 2
        quantiles = [self._quantile(tail), self._quantile(1 - tail)]
        bounds = [math.nan] * 2 if np.isnan(quantiles).any() else np.quantile(self.values, quantiles)
        spread = float(self.values.std(ddof=1)) if len(self.values) > 1 else math.nan
        return BootstrapEstimate(self.estimate, spread, float(bounds[0]), float(bounds[1]), level, len(self.values))

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided p-value of "the statistic is `null`", by inversion: one minus the level whose interval ends there.

        So p < 0.05 where the 95% interval leaves `null` out, up to the resolution of the resamples. One is added to the
        resamples on the far side and to all (Davison and Hinkley 1997, section 4.2): the value is never 0.

        Returns:
            A value in (0, 1]; 1 where no resample differs from `null`; NaN where there is no interval.
        """
        if np.isnan(self.values).any() or math.isnan(self.acceleration):
            return math.nan
        below, tied = _compare(self.values, null)
        n = len(self.values)
        left = self._level((below + tied + 1) / (n + 1))
        right = 1 - self._level(1 - (n - below + 1) / (n + 1))
        return min(1.0, 2 * left, 2 * right)

    def _quantile(self, level: float) -> float:
        """Which quantile of the values is the one-sided bound of a level."""
        z = self.bias_correction + self._z(level)
        if self.acceleration * z >= 1:  # past the pole of BCa
            return 1.0 if self.acceleration > 0 else 0.0
        return float(ndtr(self.bias_correction + z / (1 - self.acceleration * z)))

    def _level(self, quantile: float) -> float:
        """The inverse of `_quantile`."""
        if quantile <= 0 or quantile >= 1:
            return min(1.0, max(0.0, quantile))
        w = float(ndtri(quantile)) - self.bias_correction
        if self.acceleration * w <= -1:
            return 0.0 if self.acceleration > 0 else 1.0
        z = w / (1 + self.acceleration * w) - self.bias_correction
        return float(ndtr(z) if math.isinf(self.degrees_of_freedom) else stdtr(self.degrees_of_freedom, z))

    def _z(self, level: float) -> float:
        """The normal or t quantile of a level."""
        return float(ndtri(level) if math.isinf(self.degrees_of_freedom) else stdtrit(self.degrees_of_freedom, level))


def bootstrap(
    statistic: Statistic,
    *,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    method: Method = "bca",
    resamples: int = 10_000,
    seed: int = 0,
) -> BootstrapDistribution:
    """Resample the samples of a statistic, whole clusters within fixed strata.

    Args:
        statistic: Over n samples: see `stats.statistic`. Missing samples are left out.
        clusters: Length n, the cluster of each sample (the same name in two strata is two clusters); each sample is its
            own when None.
        strata: Length n, the stratum of each sample; one stratum when None. The number of units of each stratum is
            taken as fixed by design.
        method: "percentile" takes quantiles of the resampled values. "bca" corrects them for bias and skewness, the
            acceleration from leaving out one unit at a time. "expanded" is for few units, below about forty a stratum:
            it draws n - 1 of n units, which makes the variance of a mean unbiased, and takes quantiles further out, as
            a t distribution has beside a normal one. Its degrees of freedom are those of the smallest stratum, the
            lower bound of Satterthwaite's.
        resamples: Number of resamples, at least 1.
        seed: Seed of the draws. The result does not depend on the order of the samples.

    Returns:
        The distribution: `.interval(level)`, `.p_value(null)`. All NaN for no samples; a stratum with fewer than two
        units leaves only the estimate.

    Raises:
        TypeError: `clusters` or `strata` is a string.
        ValueError: Lengths differ, or `method` or `resamples` is unknown or out of range.
    """
    check_resamples(resamples)
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}; it must be one of {', '.join(get_args(Method))}")
    units = group_units(statistic, clusters, strata)
    missing = np.full(resamples, np.nan)
    if not units:
        return BootstrapDistribution(math.nan, missing)
    estimate = float(statistic.function(total(units))[0])
    if any(stratum.size < 2 for stratum in units):
        return BootstrapDistribution(estimate, missing)
    draws = resampled_sums(units, resamples, np.random.default_rng(seed), shorter=int(method == "expanded"))
    values = np.concatenate([statistic.function(sums) for sums in draws])
    if method == "percentile":
        return BootstrapDistribution(estimate, values)
    if method == "expanded":
        return BootstrapDistribution(estimate, values, degrees_of_freedom=min(stratum.size for stratum in units) - 1)
    return BootstrapDistribution(estimate, values, _bias_correction(values, estimate), _acceleration(statistic, units))


def _compare(values: Floats, point: float) -> tuple[int, int]:
    """How many values lie below a point, and how many on it."""
    margin = _ROUNDING * max(float(np.abs(values).max()), abs(point))
    below = int(np.sum(values < point - margin))
    return below, int(np.sum(values <= point + margin)) - below


def _bias_correction(values: Floats, estimate: float) -> float:
    below, tied = _compare(values, estimate)
    # Kept off 0 and 1, where the normal quantile is infinite: that few resamples cannot tell.
    n = len(values)
    return float(ndtri(min(max((below + tied / 2) / n, 1 / (n + 1)), n / (n + 1))))


def _acceleration(statistic: Statistic, units: Sequence[Stratum]) -> float:
    """From the jackknife influence (n - 1) (mean - left out) of the units, one value a kind."""
    influences = []
    for stratum, blocks in leave_one_out_sums(units):
        left_out = np.concatenate([statistic.function(sums) for sums in blocks])
        influences.append((stratum.size - 1) * (np.average(left_out, weights=stratum.copies) - left_out))
    scale = max(float(np.abs(influence).max()) for influence in influences)
    if scale == 0:
        return 0.0
    skew, variance = 0.0, 0.0
    for stratum, influence in zip(units, influences, strict=True):
        unit = influence / scale  # the powers of tiny values would vanish
        skew += float(stratum.copies @ unit**3) / stratum.size**3
        variance += float(stratum.copies @ unit**2) / stratum.size**2
    return skew / (6 * variance * math.sqrt(variance))
