"""Bootstrap of a mean whose observations come in few clusters, within fixed strata: ItaP-AT's words in two sets."""

from collections.abc import Hashable, Sequence

from numpy.typing import ArrayLike

from lm_eval_ita.stats._checks import check_level
from lm_eval_ita.stats.bootstrap import BootstrapEstimate, bootstrap
from lm_eval_ita.stats.statistic import mean

__all__ = ["cluster_bootstrap_mean"]


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

    The method is `bootstrap`'s "expanded", for few clusters.

    Args:
        values: Shape (n,), the observations; NaN is missing.
        clusters: Length n, the cluster of each observation (the same name in two strata is two clusters).
        strata: Length n, the stratum of each observation; one stratum when None. The number of clusters of each stratum
            is taken as fixed by design.
        level: Confidence level, between 0 and 1 exclusive.
        resamples: Number of resamples, at least 1.
        seed: Seed of the draws. The result does not depend on the order of the observations.

    Returns:
        The estimate with standard error and interval; all NaN for no observations.

    Raises:
        TypeError: An argument is a string.
        ValueError: Lengths differ, or `level` or `resamples` is out of range.
    """
    check_level(level)
    drawn = bootstrap(mean(values), clusters=clusters, strata=strata, method="expanded", resamples=resamples, seed=seed)
    return drawn.interval(level)
