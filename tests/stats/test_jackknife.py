import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lm_eval_ita.stats.bootstrap import bootstrap
from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts
from lm_eval_ita.stats.jackknife import covariance, influences, z_test
from lm_eval_ita.stats.paired import paired_bootstrap
from lm_eval_ita.stats.statistic import Statistic, confusion_statistic, mean

RNG = np.random.default_rng(7)


def choices(right: float, function: object, n: int = 400, seed: int = 1) -> Statistic:
    """Answers to one list of three labels, right with a probability."""
    golds = np.random.default_rng(0).integers(0, 3, n)
    drawn = np.random.default_rng(seed)
    preds = np.where(drawn.random(n) < right, golds, drawn.integers(-1, 3, n))
    return confusion_statistic(golds, preds, 3, function)


def test_of_a_mean_by_hand() -> None:
    # Mean 3. Without 1: 4, without 3: 3, without 5: 2; their mean is 3. Twice (3 - 4), (3 - 3), (3 - 2).
    assert influences(mean([1, 3, 5])).tolist() == [-2, 0, 2]
    # Variance of the mean: ((-2)^2 + 0 + 2^2) / (3 x 2) = 4/3.
    assert covariance([mean([1, 3, 5])]) == pytest.approx(np.array([[4 / 3]]))


def test_of_means_it_is_the_covariance_over_n() -> None:
    values = RNG.normal(size=(3, 50))
    values[1] += values[0]
    assert covariance([mean(row) for row in values]) == pytest.approx(np.cov(values) / 50)


@pytest.mark.parametrize("function", [f1_macro_from_counts, mcc_from_counts])
def test_agrees_with_the_bootstrap(function: object) -> None:
    first, second = choices(0.6, function), choices(0.5, function, seed=2)
    spread = covariance([first, second])
    for position, statistic in enumerate((first, second)):
        drawn = bootstrap(statistic, method="percentile").interval().standard_error
        assert math.sqrt(spread[position, position]) == pytest.approx(drawn, rel=0.06)
    pair = paired_bootstrap(first, second).difference
    variance = spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]
    assert math.sqrt(variance) == pytest.approx(pair.standard_error, rel=0.06)


def test_the_order_of_the_samples_changes_nothing() -> None:
    values = RNG.normal(size=(2, 30))
    order = RNG.permutation(30)
    assert covariance([mean(row) for row in values]) == pytest.approx(covariance([mean(row[order]) for row in values]))


def test_missing_samples_pull_nothing() -> None:
    assert influences(mean([1, math.nan, 3, 5])).tolist() == [-2, 0, 0, 2]
    assert np.isnan(influences(mean([1, math.nan]))).all()
    assert influences(mean([])).tolist() == []


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="different numbers of samples"):
        covariance([mean([1, 2]), mean([1, 2, 3])])


def test_z_test_against_scipy() -> None:
    values = np.add(RNG.normal(size=(2, 2000)), [[0.0], [0.05]])
    p = z_test(values.mean(axis=1), covariance([mean(row) for row in values]))
    assert p[0, 1] == pytest.approx(stats.ttest_rel(values[0], values[1]).pvalue, abs=1e-3)
    assert p.tolist() == p.T.tolist()
    assert np.diag(p).tolist() == [1, 1]


def test_z_test_where_nothing_varies() -> None:
    alike = mean([0, 1, 1, 0])
    assert z_test([0.5, 0.5], covariance([alike, alike])).tolist() == [[1, 1], [1, 1]]
    # All right against all wrong: no spread to measure the difference by.
    p = z_test([1, 0], covariance([mean([1, 1]), mean([0, 0])]))
    assert np.isnan(p[0, 1])
    assert np.isnan(z_test([math.nan, 0.5], np.eye(2))[0, 1])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
def test_p_values_are_probabilities(pairs: list[tuple[bool, bool]]) -> None:
    one, two = zip(*pairs, strict=True)
    p = z_test([np.mean(one), np.mean(two)], covariance([mean(one), mean(two)]))
    assert np.all(np.isnan(p) | ((p >= 0) & (p <= 1)))
