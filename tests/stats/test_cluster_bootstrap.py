import math

import numpy as np
import pytest
from scipy.stats import bootstrap, norm
from scipy.stats import t as student

from lm_eval_ita.stats.cluster_bootstrap import cluster_bootstrap_mean


def test_against_scipy_where_clusters_are_single_and_many() -> None:
    values = np.random.default_rng(1).normal(size=200)
    ours = cluster_bootstrap_mean(values, range(200), resamples=20_000)
    reference = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2))
    assert math.isclose(ours.standard_error, float(reference.standard_error), rel_tol=0.03)
    np.testing.assert_allclose([ours.low, ours.high], reference.confidence_interval, atol=0.01)


def test_variance_is_unbiased_with_few_clusters() -> None:
    # Four clusters of one value: the standard error of a mean is s / sqrt(n) = sqrt(5/3) / 2, worked by hand.
    ours = cluster_bootstrap_mean([1, 2, 3, 4], list("abcd"), resamples=100_000)
    assert math.isclose(ours.standard_error, math.sqrt(5 / 3) / 2, rel_tol=0.01)
    assert ours.estimate == 2.5


def test_strata_are_resampled_apart() -> None:
    # Values that differ between strata only: no uncertainty at all.
    ours = cluster_bootstrap_mean([1, 1, 1, -1, -1, -1], list("abcabc"), list("xxxyyy"), resamples=500)
    assert (ours.estimate, ours.standard_error, ours.low, ours.high) == (0, 0, 0, 0)
    # One stratum: the same values vary.
    assert cluster_bootstrap_mean([1, 1, 1, -1, -1, -1], list("abcdef"), resamples=500).standard_error > 0.2


def test_order_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    values, clusters = rng.normal(size=60), rng.integers(0, 12, size=60).tolist()
    order = rng.permutation(60)
    first = cluster_bootstrap_mean(values, clusters, resamples=300)
    second = cluster_bootstrap_mean(values[order], [clusters[i] for i in order], resamples=300)
    assert math.isclose(first.low, second.low, rel_tol=1e-9)
    assert math.isclose(first.standard_error, second.standard_error, rel_tol=1e-9)
    assert cluster_bootstrap_mean(values, clusters, resamples=300, seed=1).low != first.low


def test_few_clusters_take_a_t_distribution() -> None:
    # Normal means of 12 + 12 clusters: close to the textbook interval with 11 degrees of freedom.
    values = np.random.default_rng(2).normal(size=24)
    ours = cluster_bootstrap_mean(values, range(24), ["x"] * 12 + ["y"] * 12, resamples=50_000)
    error = 0.5 * math.sqrt(np.var(values[:12], ddof=1) / 12 + np.var(values[12:], ddof=1) / 12)
    assert (ours.high - ours.low) / 2 == pytest.approx(student.ppf(0.975, 11) * error, rel=0.04)
    assert (ours.high - ours.low) / 2 > 1.07 * norm.ppf(0.975) * error


def test_missing_values_are_left_out() -> None:
    ours = cluster_bootstrap_mean([1, math.nan, 0, 1], list("aabc"), resamples=200)
    assert ours == cluster_bootstrap_mean([1, 0, 1], list("abc"), resamples=200)


def test_a_string_is_no_list() -> None:
    with pytest.raises(TypeError, match="clusters must be a list"):
        cluster_bootstrap_mean([1, 2, 3], "abc")


def test_too_little_to_tell() -> None:
    lone = cluster_bootstrap_mean([1, 1, 0], ["a", "a", "a"])
    assert lone.estimate == pytest.approx(2 / 3)
    assert math.isnan(lone.standard_error)
    assert math.isnan(lone.low)
    assert math.isnan(cluster_bootstrap_mean([], []).estimate)


@pytest.mark.parametrize(
    "bad",
    [
        {"clusters": [1, 2]},
        {"strata": [1, 2]},
        {"level": 0.0},
        {"level": 1.0},
        {"resamples": 0},
        {"values": [[1, 2, 3]]},
    ],
)
def test_bad_arguments(bad: dict[str, object]) -> None:
    arguments: dict[str, object] = {"values": [1, 2, 3], "clusters": [1, 2, 3], **bad}
    with pytest.raises(ValueError):
        cluster_bootstrap_mean(**arguments)  # type: ignore[arg-type]
