"""Bootstrap of a mean whose observations come in clusters, within fixed strata.

Sources: Cameron, Gelbach and Miller (2008), "Bootstrap-based improvements for inference with clustered errors", for
resampling whole clusters; Rao and Wu (1988), "Resampling inference with complex survey data", for drawing n - 1 of n
clusters in each stratum, which makes the variance unbiased where strata hold few clusters.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["BootstrapEstimate", "cluster_bootstrap_mean"]


@dataclass(frozen=True)
class BootstrapEstimate:
    """A mean with its uncertainty.

    Attributes:
        estimate: The mean of the observations.
        standard_error: Standard deviation of the bootstrap means; NaN where a stratum has fewer than two clusters.
        low, high: Bounds of the percentile interval; NaN likewise.
        level: Confidence level of the interval, 0 to 1.
        resamples: Number of bootstrap resamples.
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    resamples: int


def cluster_bootstrap_mean(
    values: ArrayLike,
    clusters: Sequence[Hashable],
    strata: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> BootstrapEstimate:
    """Estimate the mean of `values`, resampling whole clusters within each stratum.

    Args:
        values: Shape (n,), the observations.
        clusters: Length n, the cluster of each observation (the same name in two strata is two clusters).
        strata: Length n, the stratum of each observation; one stratum when None. The number of clusters of each stratum
            is taken as fixed by design.
        level: Confidence level, between 0 and 1 exclusive.
        resamples: Number of resamples, at least 1.
        seed: Seed of the draws. The result does not depend on the order of the observations.

    Returns:
        The estimate with standard error and percentile interval; all NaN for no observations.

    Raises:
        ValueError: Lengths differ, or `level` or `resamples` is out of range.
    """
    observations = np.asarray(values, dtype=float)
    strata = ["" for _ in clusters] if strata is None else strata
    if not (observations.ndim == 1 and len(observations) == len(clusters) == len(strata)):
        raise ValueError("values, clusters and strata must be one-dimensional and of the same length")
    if not 0 < level < 1 or resamples < 1:
        raise ValueError("level must lie between 0 and 1, and resamples must be at least 1")
    nan = float("nan")
    if len(observations) == 0:
        return BootstrapEstimate(nan, nan, nan, nan, level, resamples)
    groups = _sums_by_stratum(observations, clusters, strata)
    estimate = float(observations.mean())
    if any(len(sums) < 2 for sums, _ in groups):
        return BootstrapEstimate(estimate, nan, nan, nan, level, resamples)
    rng = np.random.default_rng(seed)
    total = np.zeros(resamples)
    count = np.zeros(resamples)
    for sums, sizes in groups:
        n = len(sums)
        weights = rng.multinomial(n - 1, np.full(n, 1 / n), size=resamples) * (n / (n - 1))
        total += weights @ sums
        count += weights @ sizes
    means = total / count
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return BootstrapEstimate(estimate, float(means.std(ddof=1)), float(low), float(high), level, resamples)


def _sums_by_stratum(
    values: np.ndarray, clusters: Sequence[Hashable], strata: Sequence[Hashable]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Per stratum, the sum and the size of each cluster, in an order that does not depend on the input's."""
    sums: dict[Hashable, dict[Hashable, list[float]]] = {}
    for value, cluster, stratum in zip(values, clusters, strata, strict=True):
        entry = sums.setdefault(stratum, {}).setdefault(cluster, [0.0, 0.0])
        entry[0] += float(value)
        entry[1] += 1
    ordered = []
    for stratum in sorted(sums, key=str):
        rows = [sums[stratum][cluster] for cluster in sorted(sums[stratum], key=str)]
        ordered.append((np.array([row[0] for row in rows]), np.array([row[1] for row in rows])))
    return ordered
