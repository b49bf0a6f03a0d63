import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.stats.multiplicity import benjamini_hochberg, holm

Adjust = Callable[[object], list[float]]
P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def by_definition(p: list[float]) -> list[float]:
    """The closed test with Bonferroni on every intersection: reject i when every subset that holds i is rejected."""
    from itertools import combinations

    adjusted = []
    for i in range(len(p)):
        others = [j for j in range(len(p)) if j != i]
        worst = 0.0
        for size in range(len(p)):
            for chosen in combinations(others, size):
                subset = [p[i], *(p[j] for j in chosen)]
                worst = max(worst, min(1.0, len(subset) * min(subset)))
        adjusted.append(worst)
    return adjusted


def test_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.04: times 3, 2, 1 gives 0.03, 0.04, 0.04.
    np.testing.assert_allclose(holm([0.04, 0.01, 0.02]), [0.04, 0.03, 0.04])


@given(st.lists(st.floats(0, 1), max_size=6))
def test_against_the_closed_testing_principle(p: list[float]) -> None:
    np.testing.assert_allclose(holm(p), by_definition(p))


@given(P_VALUES)
def test_invariants(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(a >= b for a, b in zip(adjusted, p, strict=True))
    assert all(value <= 1 for value in adjusted)
    assert holm(p[::-1]) == adjusted[::-1]


def rejected_at(p: list[float], q: float) -> list[bool]:
    """Benjamini and Hochberg's procedure as they state it: reject the k smallest, k the largest i with p(i) <= i q / m."""
    ordered = sorted(p)
    passed = [i for i in range(1, len(p) + 1) if ordered[i - 1] <= i * q / len(p)]
    return [bool(passed) and value <= ordered[passed[-1] - 1] for value in p]


def test_the_example_of_benjamini_and_hochberg() -> None:
    # Their section 4: of 15 p-values the four smallest are rejected at 0.05; the fourth is 0.0095 * 15 / 4.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1,
    ]
    adjusted = benjamini_hochberg(p)
    assert [value <= 0.05 for value in adjusted] == [True] * 4 + [False] * 11
    assert math.isclose(adjusted[3], 0.035625)


@given(P_VALUES, st.floats(0.01, 0.99))
def test_adjusted_values_reject_what_the_procedure_rejects(p: list[float], q: float) -> None:
    adjusted = benjamini_hochberg(p)
    for value, rejected in zip(adjusted, rejected_at(p, q), strict=True):
        if not math.isclose(value, q, rel_tol=1e-9):
            assert (value <= q) == rejected


@given(P_VALUES)
def test_the_false_discovery_rate_is_the_weaker_demand(p: list[float]) -> None:
    pairs = list(zip(p, benjamini_hochberg(p), holm(p), strict=True))
    assert all(raw <= bh * (1 + 1e-12) and bh <= family * (1 + 1e-12) for raw, bh, family in pairs)
    np.testing.assert_allclose(benjamini_hochberg(p[::-1]), [bh for _, bh, _ in pairs][::-1])


@pytest.mark.parametrize(("adjust", "expected"), [(holm, [0.02, 0.04]), (benjamini_hochberg, [0.02, 0.04])])
def test_missing_values_stay_missing_and_do_not_count(adjust: Adjust, expected: list[float]) -> None:
    adjusted = adjust([0.01, math.nan, 0.04])
    np.testing.assert_allclose([adjusted[0], adjusted[2]], expected)
    assert math.isnan(adjusted[1])
    assert adjust([]) == []
    assert math.isnan(adjust([math.nan])[0])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_bad_arguments(adjust: Adjust) -> None:
    for out_of_range in ([1.2], [0.5, -0.1]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust(out_of_range)
    with pytest.raises(ValueError, match="one-dimensional"):
        adjust([[0.1]])
    with pytest.raises(TypeError, match="p_values must be a list"):
        adjust("0.1")
