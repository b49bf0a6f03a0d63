"""Two models on the same samples: is one better?

Sources: McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages";
Berg-Kirkpatrick, Burkett and Klein (2012), "An empirical investigation of statistical significance in NLP", for the
paired bootstrap; Yeh (2000), "More accurate tests for the statistical significance of result differences", for
exchanging the answers of two systems; Phipson and Smyth (2010), "Permutation p-values should never be zero".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, binomtest

from lm_eval_ita.stats._checks import check_level, check_resamples, reject_str
from lm_eval_ita.stats.bootstrap import BootstrapEstimate, Method, bootstrap
from lm_eval_ita.stats.resampling import Stratum, group_units
from lm_eval_ita.stats.statistic import Floats, Ints, Statistic, SumsToValues, difference

__all__ = ["McNemar", "PairedBootstrap", "PermutationTest", "mcnemar", "paired_bootstrap", "permutation_test"]

# Up to here every distinct way of exchanging answers is looked at, beyond they are drawn.
_MOST_ENUMERATED = 1 << 12
_BLOCK = 1 << 20
# Differences that differ by rounding alone are ties.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class McNemar:
    """The exact test that two models are right equally often.

    Attributes:
        n: Samples known for both models.
        only_first, only_second: Samples that one model alone got right.
        p_value: Two-sided, in (0, 1]; 1 where the models are never apart, NaN for no samples.
    """

    n: int
    only_first: int
    only_second: int
    p_value: float


@dataclass(frozen=True)
class PairedBootstrap:
    """The difference of a statistic between two models.

    Attributes:
        difference: First minus second, with its interval.
        p_value: Two-sided, of "no difference", in (0, 1]; NaN where there is no interval.
    """

    difference: BootstrapEstimate
    p_value: float


@dataclass(frozen=True)
class PermutationTest:
    """The difference of a statistic between two models under exchange of their answers.

    Attributes:
        difference: First minus second; NaN for no samples.
        p_value: Two-sided, in (0, 1]; NaN likewise.
        exact: Whether all exchanges were looked at.
        exchanges: How many were, those with equal results counted once; drawn ones where not exact.
    """

    difference: float
    p_value: float
    exact: bool
    exchanges: int


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> McNemar:
    """Test whether two models are right equally often: a binomial test on the samples that one alone got right.

    Args:
        first: Shape (n,), 1 or True where the first model is right, 0 or False where wrong, NaN where missing.
        second: Likewise, the same samples. A sample missing in either is left out.

    Raises:
        TypeError: An argument is a string.
        ValueError: Shapes differ, or a value is none of these.
    """
    reject_str(first=first, second=second)
    right, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if right.ndim != 1 or right.shape != other.shape:
        raise ValueError(f"first and second must be lists of one length; their shapes are {right.shape}, {other.shape}")
    known = ~(np.isnan(right) | np.isnan(other))
    right, other = right[known], other[known]
    if not np.isin([right, other], [0, 1]).all():
        raise ValueError("first and second must hold 0, 1 or NaN only")
    only_first, only_second = int(np.sum(right > other)), int(np.sum(right < other))
    apart = only_first + only_second
    p_value = float(binomtest(only_first, apart, 0.5).pvalue) if apart else (1.0 if len(right) else math.nan)
    return McNemar(len(right), only_first, only_second, p_value)


def paired_bootstrap(
    first: Statistic,
    second: Statistic,
    *,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    method: Method = "bca",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairedBootstrap:
    """Interval and p-value of the difference between two models, every resample being the same for both.

    The p-value inverts the interval (`BootstrapDistribution.p_value`): it is below 0.05 where the 95% interval of the
    same method leaves 0 out. Identical answers give difference 0, interval [0, 0] and p-value 1.

    Args:
        first, second: The statistic of each model over the same n samples, in one order. A sample missing in either is
            left out of both.
        clusters, strata, method, resamples, seed: As in `bootstrap`.
        level: Confidence level, between 0 and 1 exclusive.

    Raises:
        TypeError: `clusters` or `strata` is a string.
        ValueError: Lengths differ, or an argument is out of range.
    """
    check_level(level)
    drawn = bootstrap(
        difference(first, second), clusters=clusters, strata=strata, method=method, resamples=resamples, seed=seed
    )
    return PairedBootstrap(drawn.interval(level), drawn.p_value())


def permutation_test(
    first: Statistic,
    second: Statistic,
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> PermutationTest:
    """Test whether it matters which model gave which answers, exchanging them one cluster at a time.

    Under the null hypothesis the two models' answers to a cluster could as well have been the other's. The p-value is
    the share of exchanges whose absolute difference is at least the one seen. Clusters whose exchange has the same
    effect are counted together, so that many more clusters than twelve can be enumerated where they are of few kinds:
    for accuracy without clusters this is McNemar's exact test.

    Args:
        first, second: The same statistic of each model over the same n samples, made by `mean`, or by
            `confusion_statistic` with equal arguments. A sample missing in either is left out of both.
        clusters: Length n, the cluster of each sample: for ItaP-AT (side, word). Each sample is its own when None.
        resamples: Number of exchanges drawn where there are more than 4096 distinct ones. The p-value is then
            (1 + as extreme) / (1 + resamples).
        seed: Seed of the draws.

    Raises:
        TypeError: `clusters` is a string.
        ValueError: Lengths differ, `resamples` is less than 1, or the two statistics are not the same.
    """
    check_resamples(resamples)
    if first.function != second.function:
        raise ValueError("first and second must be the same statistic: both from mean, or equal confusion_statistics")
    units = group_units(difference(first, second), clusters)
    if not units:
        return PermutationTest(math.nan, math.nan, exact=True, exchanges=0)
    exchange = _exchange(first.function, units[0])
    seen = exchange.first - exchange.second
    if math.isnan(seen):
        return PermutationTest(seen, math.nan, exact=True, exchanges=0)
    ways = math.prod((exchange.copies + 1).tolist())
    if ways <= _MOST_ENUMERATED:
        exchanged = np.indices(tuple(exchange.copies + 1)).reshape(len(exchange.copies), ways).T
        chances = np.asarray(binom.pmf(exchanged, exchange.copies, 0.5)).prod(axis=1)
        p_value = min(1.0, float(chances[exchange.as_extreme(exchanged)].sum()))
        return PermutationTest(seen, p_value, exact=True, exchanges=ways)
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // max(exchange.effects.shape))
    found = 0
    for start in range(0, resamples, block):
        shape = (min(block, resamples - start), len(exchange.copies))
        found += int(exchange.as_extreme(rng.binomial(exchange.copies, 0.5, size=shape)).sum())
    return PermutationTest(seen, (1 + found) / (1 + resamples), exact=False, exchanges=resamples)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """What becomes of the two models' sums when clusters of answers are exchanged.

    Attributes:
        function: The statistic, from sums.
        first_sums, second_sums: Shape (d,), before any exchange.
        effects: Shape (t, d): what the first model loses, and the second gains, with one cluster of each kind.
        copies: Shape (t,): how many clusters are of that kind.
    """

    function: SumsToValues
    first_sums: Floats
    second_sums: Floats
    effects: Floats
    copies: Ints

    @property
    def first(self) -> float:
        return float(self.function(self.first_sums[None, :])[0])

    @property
    def second(self) -> float:
        return float(self.function(self.second_sums[None, :])[0])

    def as_extreme(self, exchanged: Ints) -> npt.NDArray[np.bool_]:
        """Where the difference is as far from 0 as the one seen; one without a value counts as such.

        Args:
            exchanged: Shape (r, t), how many clusters of each kind are exchanged.
        """
        moved = exchanged.astype(np.float64) @ self.effects
        values = self.function(self.first_sums - moved) - self.function(self.second_sums + moved)
        rounding = _ROUNDING * max(abs(self.first), abs(self.second))
        return ~(np.abs(values) < abs(self.first - self.second) - rounding)


def _exchange(function: SumsToValues, clusters: Stratum) -> _Exchange:
    """Sort clusters by what their exchange does, and leave out those where it does nothing."""
    sums = clusters.kinds.toarray()
    first, second = np.hsplit(sums, 2)
    effects, inverse = np.unique(first - second, axis=0, return_inverse=True)
    copies = np.bincount(inverse.ravel(), weights=clusters.copies, minlength=len(effects)).astype(np.int64)
    matters = effects.any(axis=1)
    return _Exchange(function, clusters.copies @ first, clusters.copies @ second, effects[matters], copies[matters])
