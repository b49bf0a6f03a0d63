import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.stats.multiplicity import holm

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


def test_missing_values_stay_missing_and_do_not_count() -> None:
    adjusted = holm([0.01, math.nan, 0.04])
    np.testing.assert_allclose([adjusted[0], adjusted[2]], [0.02, 0.04])
    assert math.isnan(adjusted[1])
    assert holm([]) == []


def test_out_of_range() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])
    with pytest.raises(ValueError, match="one-dimensional"):
        holm([[0.1]])
