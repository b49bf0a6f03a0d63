import math
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.metrics import f1_score, matthews_corrcoef

from lm_eval_ita.stats.bootstrap import BootstrapDistribution, BootstrapEstimate, bootstrap
from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts
from lm_eval_ita.stats.statistic import confusion_statistic, from_indices, mean

RNG = np.random.default_rng(4)
SKEWED = RNG.exponential(size=60)
GOLDS = RNG.integers(0, 3, size=90)
PREDS = np.where(RNG.random(90) < 0.6, GOLDS, RNG.integers(-1, 3, size=90))


def sklearn_f1(golds: np.ndarray, preds: np.ndarray) -> float:
    return float(f1_score(golds, preds, labels=[0, 1, 2], average="macro", zero_division=0))


def bounds(estimate: BootstrapEstimate) -> list[float]:
    return [estimate.low, estimate.high]


def by_scipy(
    data: tuple[np.ndarray, ...], statistic: object, values: np.ndarray, method: str, **options: bool
) -> object:
    """SciPy's interval from our resamples: nothing but the method is compared."""
    given_values = SimpleNamespace(bootstrap_distribution=values)
    return scipy.stats.bootstrap(
        data, statistic, n_resamples=0, bootstrap_result=given_values, method=method, vectorized=False, **options
    ).confidence_interval


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_against_scipy_on_the_same_resamples(method: str) -> None:
    ours = bootstrap(mean(SKEWED), method=method, resamples=2000)  # type: ignore[arg-type]
    np.testing.assert_allclose(bounds(ours.interval()), by_scipy((SKEWED,), np.mean, ours.values, method), rtol=1e-9)
    pairs = [(f1_macro_from_counts, sklearn_f1), (mcc_from_counts, matthews_corrcoef)]
    for kernel, reference in pairs:
        ours = bootstrap(confusion_statistic(GOLDS, PREDS, 3, kernel), method=method, resamples=999)  # type: ignore[arg-type]
        expected = by_scipy((GOLDS, PREDS), reference, ours.values, method, paired=True)
        np.testing.assert_allclose(bounds(ours.interval()), expected, rtol=1e-9)


@pytest.mark.parametrize("right", [[1] * 12 + [0] * 3, [0, 0, 1, 3]])
def test_bca_where_resamples_tie_with_the_estimate(right: list[int]) -> None:
    ours = bootstrap(mean(right), resamples=4000)
    assert np.mean(ours.values == ours.estimate) > 0.05
    expected = by_scipy((np.array(right),), np.mean, ours.values, "BCa")
    np.testing.assert_allclose(bounds(ours.interval()), expected, rtol=1e-9)
    # Bounds jump between the few values: the correction itself tells more.
    share = np.mean(ours.values < ours.estimate) + np.mean(ours.values == ours.estimate) / 2
    assert ours.bias_correction == pytest.approx(norm.ppf(share), rel=1e-9)


def test_bca_of_two_strata_against_scipy() -> None:
    second = RNG.normal(size=25) ** 2
    ours = bootstrap(mean([*SKEWED, *second]), strata=["x"] * 60 + ["y"] * 25, resamples=2000)

    def pooled(x: np.ndarray, y: np.ndarray) -> float:
        return float(60 / 85 * x.mean() + 25 / 85 * y.mean())  # the strata keep their share

    expected = by_scipy((SKEWED, second), pooled, ours.values, "BCa")
    np.testing.assert_allclose(bounds(ours.interval()), expected, rtol=1e-9)


def test_whole_clusters_against_scipy() -> None:
    """A cluster is a sample of scipy's, with its sum and size."""
    sizes = RNG.integers(1, 6, size=40)
    clusters = np.repeat(np.arange(40), sizes)
    values = RNG.normal(size=40)[clusters] + RNG.normal(size=len(clusters))
    sums = np.bincount(clusters, weights=values)

    def ratio(s: np.ndarray, m: np.ndarray) -> float:
        return float(s.sum() / m.sum())

    ours = bootstrap(mean(values), clusters=clusters.tolist(), resamples=5000)
    expected = by_scipy((sums, sizes), ratio, ours.values, "BCa", paired=True)
    np.testing.assert_allclose(bounds(ours.interval()), expected, rtol=1e-9)
    apart = scipy.stats.bootstrap(
        (sums, sizes), ratio, n_resamples=5000, vectorized=False, paired=True, rng=np.random.default_rng(1)
    )
    assert ours.interval().standard_error == pytest.approx(float(apart.standard_error), rel=0.05)
    assert ours.interval().standard_error > 1.2 * bootstrap(mean(values), resamples=5000).interval().standard_error


def test_resamples_against_scipy() -> None:
    ours = bootstrap(confusion_statistic(GOLDS, PREDS, 3, f1_macro_from_counts), resamples=20_000).interval()
    theirs = scipy.stats.bootstrap(
        (GOLDS, PREDS), sklearn_f1, n_resamples=200, vectorized=False, paired=True, rng=np.random.default_rng(1)
    )
    assert ours.estimate == pytest.approx(sklearn_f1(GOLDS, PREDS), rel=1e-12)
    assert ours.standard_error == pytest.approx(float(theirs.standard_error), rel=0.2)  # theirs from 200: +-5%


@pytest.mark.parametrize("method", ["percentile", "bca", "expanded"])
def test_the_slow_way_is_the_same_engine(method: str) -> None:
    values = SKEWED[:20]
    fast, slow = (
        bootstrap(statistic, method=method, resamples=500)  # type: ignore[arg-type]
        for statistic in (mean(np.sort(values)), from_indices(lambda i: float(np.sort(values)[i].mean()), 20))
    )
    np.testing.assert_allclose(slow.values, fast.values, rtol=1e-12)
    np.testing.assert_allclose(bounds(slow.interval(0.9)), bounds(fast.interval(0.9)), rtol=1e-9)


def test_any_function_of_indices() -> None:
    ours = bootstrap(from_indices(lambda i: float(np.median(SKEWED[i])), 60), resamples=1000)
    assert ours.estimate == np.median(SKEWED)
    theirs = scipy.stats.bootstrap((SKEWED,), np.median, n_resamples=5000, rng=np.random.default_rng(1))
    np.testing.assert_allclose(bounds(ours.interval()), theirs.confidence_interval, atol=0.1)
    for method in ("bca", "expanded"):
        with pytest.raises(ValueError, match="percentile"):
            bootstrap(from_indices(lambda i: float(i.mean()), 6), strata=list("xxxyyy"), method=method)  # type: ignore[arg-type]


def test_expanded_takes_quantiles_further_out() -> None:
    ours = bootstrap(mean(SKEWED[:12]), strata=list("xxxxxxxyyyyy"), method="expanded", resamples=3000)
    tail = norm.cdf(student.ppf(0.05, 4))  # the smaller stratum has 5
    np.testing.assert_allclose(bounds(ours.interval(0.9)), np.quantile(ours.values, [tail, 1 - tail]), rtol=1e-9)


@pytest.mark.parametrize(
    "distribution",
    [
        bootstrap(mean(SKEWED - 0.8), method="percentile", resamples=9999),
        bootstrap(mean(SKEWED - 0.8), method="bca", resamples=9999),
        bootstrap(mean(0.8 - SKEWED), method="bca", resamples=9999),
        bootstrap(mean(SKEWED[:9] - 0.5), method="expanded", resamples=9999),
    ],
)
def test_p_value_is_where_the_interval_ends(distribution: BootstrapDistribution) -> None:
    for null in (-0.2, 0.0, 0.1, 0.2):
        p = distribution.p_value(null)
        inside = [
            estimate.low <= null <= estimate.high
            for estimate in (distribution.interval(1 - p * factor) for factor in (0.9, 1.1) if p * factor < 1)
        ]
        if 0.01 < p < 0.9:
            assert inside == [True, False]


def test_p_value_by_hand() -> None:
    # Two of nine at or below 0: 2 (2 + 1) / (9 + 1).
    values = np.array([-1.0, 0, 1, 2, 3, 4, 5, 6, 7])
    assert BootstrapDistribution(3.0, values).p_value() == pytest.approx(0.6)
    assert BootstrapDistribution(3.0, -values).p_value() == pytest.approx(0.6)
    assert BootstrapDistribution(3.0, values + 5).p_value() == pytest.approx(0.2)  # never 0
    assert BootstrapDistribution(0.0, np.zeros(9)).p_value() == 1


def test_past_the_pole_of_bca() -> None:
    values = np.arange(101.0)
    for acceleration, end in ((0.6, 100), (-0.6, 0)):
        skewed = BootstrapDistribution(50.0, values, acceleration=acceleration)
        assert end in bounds(skewed.interval())
        assert 0 < skewed.p_value(30) <= 1


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_order_does_not_matter(values: list[int], random: object) -> None:
    clusters = [i // 3 for i in range(len(values))]
    rows = list(zip(values, clusters, strict=True))
    random.shuffle(rows)  # type: ignore[attr-defined]
    shuffled, names = zip(*rows, strict=True)
    first, second = (
        bootstrap(mean(v), clusters=c, resamples=50)
        for v, c in ((values, clusters), (shuffled, [f"c{i}" for i in names]))
    )
    np.testing.assert_array_equal(first.values, second.values)
    assert first.interval() == second.interval() or math.isnan(first.interval().low)


def test_tiny_values_are_values() -> None:
    ours, scaled = (bootstrap(mean(SKEWED * unit), resamples=500).interval() for unit in (1.0, 2.0**-500))
    np.testing.assert_allclose(np.array(bounds(scaled)) * 2.0**500, bounds(ours), rtol=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.sampled_from(["percentile", "bca", "expanded"]))
@settings(max_examples=40)
def test_bounds_stay_within_the_values(values: list[float], method: str) -> None:
    estimate = bootstrap(mean(values), method=method, resamples=99).interval()  # type: ignore[arg-type]
    assert min(values) - 1e-12 <= estimate.low <= estimate.high <= max(values) + 1e-12


def test_a_seed_is_a_seed() -> None:
    one, again, other = (bootstrap(mean(SKEWED), resamples=100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.values, again.values)
    assert not np.array_equal(one.values, other.values)
    assert one.interval().resamples == 100


@pytest.mark.parametrize("method", ["percentile", "bca", "expanded"])
def test_no_variation_no_width(method: str) -> None:
    interval = bootstrap(mean([0.3] * 40), method=method, resamples=200).interval()  # type: ignore[arg-type]
    np.testing.assert_allclose(bounds(interval), 0.3, rtol=1e-12)
    assert interval.standard_error == pytest.approx(0, abs=1e-12)
    assert bounds(bootstrap(mean([1] * 9), method=method, resamples=50).interval()) == [1, 1]  # type: ignore[arg-type]


def test_too_little_to_tell() -> None:
    for empty in (mean([]), mean([math.nan]), from_indices(len, 0), confusion_statistic([], [], 2, mcc_from_counts)):
        nothing = bootstrap(empty, resamples=10)
        assert math.isnan(nothing.estimate)
        assert math.isnan(nothing.interval().low)
        assert math.isnan(nothing.p_value())
    lone = bootstrap(mean([3, 4, 5]), strata=list("xxy"), resamples=10)
    assert lone.estimate == 4
    assert np.isnan([lone.interval().low, lone.interval().standard_error, lone.p_value()]).all()


def test_a_resample_without_a_value_leaves_no_interval() -> None:
    def recall(indices: np.ndarray) -> float:
        return float(PREDS[indices][GOLDS[indices] == 0].mean()) if (GOLDS[indices] == 0).any() else math.nan

    found = int(np.flatnonzero(GOLDS == 0)[0])
    few = [found, *np.flatnonzero(GOLDS == 1)[:3]]  # one in three resamples of four misses the only gold 0
    drawn = bootstrap(from_indices(lambda i: recall(np.array(few)[i]), 4), method="percentile", resamples=200)
    unknown = BootstrapDistribution(0.5, np.arange(9.0), acceleration=math.nan)
    for nothing in (drawn, unknown):
        assert np.isnan([nothing.interval().low, nothing.interval().high, nothing.p_value()]).all()


def test_memory_is_bounded() -> None:
    """4000 resamples of 4000 distinct values are 128 MB of weights at once."""
    statistic = mean(RNG.normal(size=4000))
    tracemalloc.start()
    bootstrap(statistic, method="bca", resamples=4000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="method is 'basic'"):
        bootstrap(mean([1, 2]), method="basic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="resamples is 0"):
        bootstrap(mean([1, 2]), resamples=0)
    with pytest.raises(ValueError, match="clusters has 3"):
        bootstrap(mean([1, 2]), clusters=[1, 2, 3])
    with pytest.raises(TypeError, match="strata must be a list"):
        bootstrap(mean([1, 2]), strata="ab")
    for level in (0, 1, math.nan):
        with pytest.raises(ValueError, match="level is"):
            bootstrap(mean([1, 2]), resamples=5).interval(level)
