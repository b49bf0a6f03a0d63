import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from lm_eval_ita.stats import paired
from lm_eval_ita.stats.bootstrap import bootstrap
from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts
from lm_eval_ita.stats.paired import mcnemar, paired_bootstrap, permutation_test
from lm_eval_ita.stats.statistic import Statistic, confusion_statistic, from_indices, mean

RNG = np.random.default_rng(8)
RIGHT = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=25)


def macro_f1(golds: np.ndarray, preds: np.ndarray) -> Statistic:
    return confusion_statistic(golds, preds, 3, f1_macro_from_counts)


def answers(n: int, skill: float) -> tuple[np.ndarray, np.ndarray]:
    golds = RNG.integers(0, 3, size=n)
    return golds, np.where(RNG.random(n) < skill, golds, RNG.integers(0, 3, size=n))


def test_mcnemar_by_hand() -> None:
    # 6 right by the first alone, 1 by the second alone: 2 (C(7,0) + C(7,1)) / 2^7 = 16 / 128.
    first = [1] * 6 + [0] + [1] * 5 + [0] * 3
    second = [0] * 6 + [1] + [1] * 5 + [0] * 3
    assert mcnemar(first, second).p_value == pytest.approx(16 / 128)
    assert (mcnemar(first, second).only_first, mcnemar(first, second).only_second) == (6, 1)
    assert mcnemar([*first, math.nan, 1], [*second, 1, math.nan]) == mcnemar(first, second)


@given(RIGHT)
def test_mcnemar_invariants(pairs: list[tuple[bool, bool]]) -> None:
    first, second = zip(*pairs, strict=True)
    test = mcnemar(first, second)
    assert 0 < test.p_value <= 1
    assert mcnemar(second, first).p_value == test.p_value
    assert mcnemar(first, first).p_value == 1
    agreeing = [(1, 1), (0, 0)] * 5  # samples on which they agree change nothing
    more = mcnemar([*first, *(a for a, _ in agreeing)], [*second, *(b for _, b in agreeing)])
    assert (more.n, more.p_value) == (test.n + 10, test.p_value)


@given(RIGHT)
def test_exchanging_single_answers_is_mcnemar(pairs: list[tuple[bool, bool]]) -> None:
    first, second = zip(*pairs, strict=True)
    ours = permutation_test(mean(first), mean(second))
    assert ours.exact
    assert ours.p_value == pytest.approx(mcnemar(first, second).p_value, rel=1e-9)


def test_nothing_to_compare() -> None:
    empty = mcnemar([], [])
    assert (empty.n, math.isnan(empty.p_value)) == (0, True)
    for nothing in (permutation_test(mean([]), mean([])), permutation_test(mean([math.nan]), mean([1]))):
        assert math.isnan(nothing.difference)
        assert math.isnan(nothing.p_value)
    assert math.isnan(paired_bootstrap(mean([]), mean([]), resamples=9).p_value)


def test_permutation_of_a_mean_against_scipy() -> None:
    first, second = RNG.normal(size=(2, 10))
    theirs = scipy.stats.permutation_test(
        (first, second), lambda x, y: x.mean() - y.mean(), permutation_type="samples", n_resamples=math.inf,
        vectorized=False,
    )  # fmt: skip
    ours = permutation_test(mean(first), mean(second))
    assert (ours.exact, ours.exchanges) == (True, 1024)
    assert ours.difference == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("skill", [0.45, 0.9])
def test_permutation_by_cluster_against_every_exchange(skill: float) -> None:
    golds, first = answers(21, 0.4)
    second = np.where(RNG.random(21) < skill, golds, first)
    clusters = np.repeat(np.arange(7), 3)
    differences = []
    for exchanged in itertools.product([False, True], repeat=7):
        swap = np.array(exchanged)[clusters]
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        f1 = [f1_score(golds, preds, labels=[0, 1, 2], average="macro", zero_division=0) for preds in (a, b)]
        differences.append(f1[0] - f1[1])
    expected = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12)
    ours = permutation_test(macro_f1(golds, first), macro_f1(golds, second), clusters=clusters.tolist())
    assert ours.difference == pytest.approx(differences[0], rel=1e-9)
    assert ours.p_value == pytest.approx(expected, rel=1e-9)


def test_drawn_exchanges_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = RNG.normal(size=(2, 11)) + np.array([[0.5], [0.0]])
    exact = permutation_test(mean(first), mean(second))
    monkeypatch.setattr(paired, "_MOST_ENUMERATED", 1)
    monkeypatch.setattr(paired, "_BLOCK", 11_000)  # blocks of a thousand
    drawn = permutation_test(mean(first), mean(second), resamples=20_500)
    assert (drawn.exact, drawn.exchanges, drawn.difference) == (False, 20_500, exact.difference)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(0.25 / 20_500))
    assert drawn.p_value == permutation_test(mean(first), mean(second), resamples=20_500).p_value


def test_a_drawn_p_value_is_never_zero() -> None:
    values = np.arange(30.0)
    test = permutation_test(mean(values + 100), mean(-values), resamples=99)
    assert (test.exact, test.p_value) == (False, 1 / 100)


def test_whole_clusters_are_exchanged() -> None:
    """Five equal answers for a word tell as much as one."""
    one = RNG.integers(-1, 2, size=(2, 9))
    five = np.repeat(one, 5, axis=1)
    words = np.repeat(np.arange(9), 5).tolist()
    clustered = permutation_test(mean(five[0]), mean(five[1]), clusters=words)
    assert clustered.p_value == pytest.approx(permutation_test(mean(one[0]), mean(one[1])).p_value, rel=1e-9)


@pytest.mark.parametrize("method", ["percentile", "bca", "expanded"])
@pytest.mark.parametrize("kernel", [f1_macro_from_counts, mcc_from_counts, None])
def test_identical_runs(method: str, kernel: object) -> None:
    golds, preds = answers(40, 0.6)
    run = mean(preds / 7) if kernel is None else confusion_statistic(golds, preds, 3, kernel)  # type: ignore[arg-type]
    compared = paired_bootstrap(run, run, method=method, resamples=300)  # type: ignore[arg-type]
    difference = compared.difference
    assert (difference.estimate, difference.standard_error, difference.low, difference.high) == (0, 0, 0, 0)
    assert compared.p_value == 1
    test = permutation_test(run, run)
    assert (test.difference, test.p_value, test.exact) == (0, 1, True)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-1, 2)), min_size=2, max_size=30))
@settings(max_examples=40, deadline=None)
def test_exchanging_the_models_turns_the_sign(rows: list[tuple[int, int, int]]) -> None:
    golds, one, other = np.array(rows).T
    first, second = macro_f1(golds, one), macro_f1(golds, other)
    there, back = permutation_test(first, second), permutation_test(second, first)
    assert there.difference == -back.difference
    if there.exact:
        assert there.p_value == pytest.approx(back.p_value, rel=1e-9)
    assert 0 < there.p_value <= 1
    assert 0 < paired_bootstrap(first, second, resamples=50).p_value <= 1


def test_paired_bootstrap_of_a_mean_is_the_bootstrap_of_the_differences() -> None:
    first, second = RNG.normal(size=(2, 80))
    second = second * 0.3 + first  # the pairs belong together
    compared = paired_bootstrap(mean(first), mean(second), method="percentile", resamples=20_000)
    alone = bootstrap(mean(first - second), method="percentile", resamples=20_000, seed=1)
    assert compared.difference.estimate == pytest.approx((first - second).mean())
    assert compared.difference.standard_error == pytest.approx(alone.interval().standard_error, rel=0.03)
    np.testing.assert_allclose(
        [compared.difference.low, compared.difference.high], [alone.interval().low, alone.interval().high], atol=0.005
    )
    assert compared.p_value == pytest.approx(alone.p_value(), abs=0.02)


def test_paired_bootstrap_resamples_both_models_alike() -> None:
    golds, first = answers(150, 0.7)
    second = first.copy()
    second[:6] = golds[:6]

    def by_hand(indices: np.ndarray) -> float:
        a, b = ({"y_true": golds[indices], "y_pred": preds[indices]} for preds in (first, second))
        return float(np.subtract(*(f1_score(**x, labels=[0, 1, 2], average="macro", zero_division=0) for x in (a, b))))

    ours = paired_bootstrap(macro_f1(golds, first), macro_f1(golds, second), method="percentile", resamples=10_000)
    theirs = bootstrap(from_indices(by_hand, 150), method="percentile", resamples=150)
    assert ours.difference.estimate == pytest.approx(theirs.estimate, rel=1e-9)
    assert ours.difference.standard_error == pytest.approx(
        theirs.interval().standard_error, rel=0.2
    )  # 150 resamples: +-6%


def test_the_three_tests_agree_on_a_large_sample() -> None:
    first = RNG.random(2000) < 0.70
    second = np.where(RNG.random(2000) < 0.8, first, RNG.random(2000) < 0.62)
    exact = mcnemar(first, second).p_value
    assert 0.001 < exact < 0.5  # else this says nothing
    assert paired_bootstrap(mean(first), mean(second), resamples=20_000).p_value == pytest.approx(exact, rel=0.3)


def test_p_values_are_uniform_under_the_null() -> None:
    """Of 200 comparisons of equal models about one in ten has p <= 0.1: 20 +- 4.2."""
    draws = np.random.default_rng(0)
    tests = [
        [
            permutation_test(mean(a), mean(b), resamples=199).p_value,
            paired_bootstrap(mean(a), mean(b), resamples=199).p_value,
        ]
        for a, b in (draws.normal(size=(2, 60)) for _ in range(200))
    ]
    counts = (np.array(tests) <= 0.1).sum(axis=0)
    assert ((counts > 7) & (counts < 33)).all()


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [([1, 0], [1], "one length"), ([[1]], [[1]], "one length"), ([2], [1], "0, 1 or NaN"), ([0.5], [1], "0, 1 or NaN")],
)
def test_bad_mcnemar(first: list[float], second: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mcnemar(first, second)


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="first must be a list"):
        mcnemar("10", [1, 0])
    for compare in (paired_bootstrap, permutation_test):
        with pytest.raises(ValueError, match="lengths differ"):
            compare(mean([1]), mean([1, 2]))
        with pytest.raises(ValueError, match="resamples is 0"):
            compare(mean([1, 2]), mean([1, 2]), resamples=0)
        with pytest.raises(TypeError, match="clusters must be a list"):
            compare(mean([1, 2]), mean([1, 2]), clusters="ab")
    with pytest.raises(ValueError, match="level is 2"):
        paired_bootstrap(mean([1, 2]), mean([1, 2]), level=2)
    golds, preds = answers(5, 0.5)
    for other in (mean(preds), confusion_statistic(golds, preds, 4, f1_macro_from_counts), from_indices(len, 5)):
        with pytest.raises(ValueError, match="same statistic"):
            permutation_test(macro_f1(golds, preds), other)
