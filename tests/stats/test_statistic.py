import math

import numpy as np
import pytest
from sklearn.metrics import f1_score

from lm_eval_ita.stats.bootstrap import bootstrap
from lm_eval_ita.stats.confusion import f1_macro_from_counts
from lm_eval_ita.stats.statistic import Statistic, confusion_statistic, difference, from_indices, mean, ratio

GOLDS, PREDS = [0, 0, 1, 2, 2, 1], [0, 1, 1, 2, -1, 0]


def at(statistic: Statistic, weights: list[int]) -> float:
    """The value under whole weights, one a sample (missing ones have no row)."""
    known = statistic.row_of >= 0
    sums = np.array(weights, dtype=float)[None, known] @ statistic.rows[statistic.row_of[known]].toarray()
    return float(statistic.function(sums)[0])


def test_a_mean_is_weighted_and_leaves_missing_values_out() -> None:
    statistic = mean([1.5, math.nan, 4.0, 1.5])
    assert at(statistic, [1, 1, 1, 1]) == pytest.approx(7 / 3)
    assert at(statistic, [0, 9, 1, 1]) == pytest.approx(5.5 / 2)
    assert statistic.rows.shape[0] == 2  # equal values share a row
    assert math.isnan(at(statistic, [0, 3, 0, 0]))


def test_a_ratio_divides_sums() -> None:
    statistic = ratio([3.0, 1.0, 3.0, -2.0], [10, 5, 10, 4])
    assert at(statistic, [1, 1, 1, 1]) == pytest.approx(5 / 29)
    assert at(statistic, [2, 0, 1, 3]) == pytest.approx((9 - 6) / (30 + 12))
    assert statistic.rows.shape[0] == 3  # equal pairs share a row
    assert math.isnan(at(ratio([1.0, 2.0], [0, 1]), [1, 0]))
    # Of equal denominators it is a mean, and so is its interval.
    values = np.random.default_rng(0).normal(size=60)
    one, other = (bootstrap(each, resamples=500).interval() for each in (ratio(values, np.ones(60)), mean(values)))
    assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))


def test_the_error_of_a_ratio_is_that_of_the_linear_one() -> None:
    """Cochran (1977), "Sampling Techniques", section 2.11: the deviations from the ratio, over the mean of the units."""
    rng = np.random.default_rng(1)
    below = rng.integers(20, 200, size=400).astype(float)
    above = below * 1.7 + rng.normal(scale=12, size=400)
    quotient = above.sum() / below.sum()
    expected = (above - quotient * below).std(ddof=1) / below.mean() / math.sqrt(400)
    assert bootstrap(ratio(above, below), resamples=4000).interval().standard_error == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("above", "below"), [([1.0], [1.0, 2.0]), ([math.nan], [1.0]), ([1.0], [-1.0]), ([[1.0]], [[1.0]])]
)
def test_ratios_that_are_none(above: list[float], below: list[float]) -> None:
    with pytest.raises(ValueError, match="numerators and denominators"):
        ratio(above, below)


def test_weights_are_repeats() -> None:
    weights = [2, 0, 1, 3, 1, 1]
    repeated = np.repeat(np.arange(6), weights)
    expected = f1_score(
        np.array(GOLDS)[repeated], np.array(PREDS)[repeated], labels=[0, 1, 2], average="macro", zero_division=0
    )
    assert at(confusion_statistic(GOLDS, PREDS, 3, f1_macro_from_counts), weights) == pytest.approx(expected, rel=1e-12)


def test_indices_are_the_sorted_repeats() -> None:
    seen: list[list[int]] = []
    statistic = from_indices(lambda indices: float(seen.append(indices.tolist()) or len(indices)), 4)
    assert at(statistic, [2, 0, 1, 0]) == 3
    assert seen == [[0, 0, 2]]
    with pytest.raises(ValueError, match="whole weights"):
        statistic.function(np.array([[0.5, 1, 1, 1]]))


def test_difference_takes_samples_known_for_both() -> None:
    both = difference(mean([1.0, 2.0, math.nan, 6.0]), mean([0.0, math.nan, 5.0, 2.0]))
    assert (both.row_of >= 0).tolist() == [True, False, False, True]
    assert at(both, [1, 1, 1, 1]) == 3.5 - 1
    assert at(both, [3, 0, 0, 1]) == 9 / 4 - 2 / 4
    # Statistics of different kinds have a difference too.
    mixed = difference(mean([1, 0, 1, 1, 0, 0]), confusion_statistic(GOLDS, PREDS, 3, f1_macro_from_counts))
    f1 = f1_score(GOLDS, PREDS, labels=[0, 1, 2], average="macro", zero_division=0)
    assert at(mixed, [1] * 6) == pytest.approx(0.5 - f1)


def test_the_same_statistic_has_the_same_function() -> None:
    assert mean([1]).function == mean([2, 3]).function
    one, other = (confusion_statistic(GOLDS, preds, 3, f1_macro_from_counts) for preds in (PREDS, GOLDS))
    assert one.function == other.function
    assert one.function != confusion_statistic(GOLDS, PREDS, 4, f1_macro_from_counts).function


@pytest.mark.parametrize("bad", ["text", b"text"])
def test_a_string_is_no_list(bad: object) -> None:
    with pytest.raises(TypeError, match="values must be a list"):
        mean(bad)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="preds must be a list"):
        confusion_statistic([0], bad, 1, f1_macro_from_counts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("golds", "preds", "classes", "message"),
    [
        ([0, 1], [0], 2, "lengths differ"),
        ([0, 2], [0, 1], 2, "golds must lie"),
        ([0, -1], [0, 1], 2, "golds must lie"),
        ([0, 1], [0, 2], 2, "golds must lie"),
        ([0, 1], [0, -2], 2, "golds must lie"),
        ([0, 1], [0.0, 1.0], 2, "whole numbers"),
        ([[0, 1]], [[0, 1]], 2, "one-dimensional"),
        ([], [], 0, "at least 1"),
    ],
)
def test_bad_confusions(golds: list[int], preds: list[int], classes: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        confusion_statistic(golds, preds, classes, f1_macro_from_counts)


def test_bad_arguments() -> None:
    for values in ([[1.0]], [math.inf]):
        with pytest.raises(ValueError, match="values"):
            mean(values)
    with pytest.raises(ValueError, match="negative"):
        from_indices(len, -1)
    with pytest.raises(ValueError, match="lengths differ"):
        difference(mean([1]), mean([1, 2]))
