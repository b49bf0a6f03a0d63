import math

import numpy as np
import pytest

from lm_eval_ita.stats import resampling
from lm_eval_ita.stats.resampling import group_units, leave_one_out_sums, resampled_sums, total
from lm_eval_ita.stats.statistic import mean

VALUES = [1.0, 2.0, 2.0, 5.0, math.nan, 1.0]


def draw(values: object, resamples: int, shorter: int = 0, **design: list[object]) -> np.ndarray:
    units = group_units(mean(values), **design)
    return np.concatenate(list(resampled_sums(units, resamples, np.random.default_rng(0), shorter=shorter)))


def test_samples_with_equal_rows_are_one_kind() -> None:
    (units,) = group_units(mean(VALUES))
    assert units.kinds.toarray().tolist() == [[1, 1], [2, 1], [5, 1]]
    assert (units.copies.tolist(), units.size) == ([2, 2, 1], 5)
    assert total([units]).tolist() == [[11, 5]]
    assert group_units(mean([math.nan])) == []


def test_clusters_within_strata() -> None:
    first, second = group_units(mean(VALUES), list("abacca"), list("yyyxxx"))
    # Stratum x: cluster c holds 5 (and a missing value), a holds 1. Stratum y: a holds 1 and 2, b holds 2.
    assert (first.kinds.toarray().tolist(), first.size) == ([[1, 1], [5, 1]], 2)
    assert (second.kinds.toarray().tolist(), second.size) == ([[3, 2], [2, 1]], 2)
    (one,) = group_units(mean([1, 2, 2, 1]), list("aabb"))
    assert (one.kinds.toarray().tolist(), one.copies.tolist()) == ([[3, 2]], [2])  # equal contents, in any order


@pytest.mark.parametrize("by_multinomial", [True, False])
def test_draws_have_the_law_of_draws_with_replacement(monkeypatch: pytest.MonkeyPatch, by_multinomial: bool) -> None:
    monkeypatch.setattr(resampling, "_by_multinomial", lambda _: by_multinomial)
    monkeypatch.setattr(resampling, "_BLOCK", 7000)  # several blocks, the last one short
    values = np.repeat([0.0, 1.0, 3.0], [30, 60, 10])
    sums = draw(values, 5003)
    assert sums.shape == (5003, 2)
    assert set(sums[:, 1]) == {100}
    means = sums[:, 0] / 100
    assert means.mean() == pytest.approx(values.mean(), abs=5 * values.std() / 10 / math.sqrt(5003))
    assert means.std() == pytest.approx(values.std() / 10, rel=0.05)


@pytest.mark.parametrize("strata", [None, ["x"] * 4 + ["y"] * 4])
def test_drawing_one_fewer_keeps_the_strata_in_proportion(strata: list[object] | None) -> None:
    values = [0, 2, 4, 6, 10, 11, 12, 13]
    sums = draw(values, 40_000, shorter=1, strata=strata)
    assert len(np.unique(sums[:, 1].round(9))) == 1
    n, parts = (8, [values]) if strata is None else (4, [values[:4], values[4:]])
    variance = sum(np.var(part, ddof=1) / n for part in parts) / len(parts) ** 2  # of the mean, unbiased
    assert (sums[:, 0] / sums[:, 1]).var() == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("block", [1, 5, 1 << 21])
def test_leaving_one_out(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(resampling, "_BLOCK", block)
    (units,) = group_units(mean([1.0, 2.0, 2.0, 6.0]))
    ((_, blocks),) = leave_one_out_sums([units])
    assert np.concatenate(list(blocks)).tolist() == [[10, 3], [9, 3], [5, 3]]
    strata = group_units(mean([1, 3, 10, 20, 30]), strata=list("xxyyy"))
    (_, first), (_, second) = ((stratum, np.concatenate(list(sums))) for stratum, sums in leave_one_out_sums(strata))
    assert first.tolist() == [[66, 5], [62, 5]]  # the remaining one of x counts twice
    np.testing.assert_allclose(second, [[4 + 75, 5], [4 + 60, 5], [4 + 45, 5]])


def test_bad_designs() -> None:
    for name in ("clusters", "strata"):
        with pytest.raises(TypeError, match=name):
            group_units(mean([1, 2]), **{name: "ab"})
        with pytest.raises(ValueError, match=f"{name} has 3"):
            group_units(mean([1, 2]), **{name: [1, 2, 3]})
