import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.stats.ties import tie_groups, tied_by_intervals, tied_by_p_values


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[float], np.ndarray]:
    """Different scores of up to six models, and which of them are tied."""
    m = draw(st.integers(0, 6))
    scores = draw(st.lists(st.integers(0, 99), min_size=m, max_size=m, unique=True))
    tied = np.eye(m, dtype=bool)
    for i, j in itertools.combinations(range(m), 2):
        tied[i, j] = tied[j, i] = draw(st.booleans())
    return [float(score) for score in scores], tied


def largest_sets(tied: np.ndarray) -> set[frozenset[int]]:
    """By definition: the sets of models of which no two differ, and that no other such set contains."""
    m = len(tied)
    sets = [
        frozenset(chosen)
        for size in range(1, m + 1)
        for chosen in itertools.combinations(range(m), size)
        if all(tied[i, j] for i, j in itertools.combinations(chosen, 2))
    ]
    return {one for one in sets if not any(one < other for other in sets)}


def test_by_hand() -> None:
    # The best and the worst differ, the one between differs from neither.
    p = np.array([[1, 0.3, 0.01], [0.3, 1, 0.2], [0.01, 0.2, 1]])
    found = tie_groups([0.9, 0.8, 0.7], tied_by_p_values(p))
    assert found.groups == ((0, 1), (1, 2))
    assert found.letters == ("a", "ab", "b")
    # The worst first, and all differ at 0.35.
    assert tie_groups([0.7, 0.8, 0.9], tied_by_p_values(p)).letters == ("b", "ab", "a")
    assert tie_groups([0.7, 0.8, 0.9], tied_by_p_values(p, 0.35)).letters == ("c", "b", "a")
    assert tied_by_p_values(p, 0.2)[1, 2]  # p below alpha is significant, p at alpha is not


@given(rankings())
def test_groups_are_the_largest_sets_without_a_difference(ranking: tuple[list[float], np.ndarray]) -> None:
    scores, tied = ranking
    groups = tie_groups(scores, tied).groups
    assert {frozenset(group) for group in groups} == largest_sets(tied)
    assert len(groups) == len(set(groups))


@given(rankings())
def test_letters_say_who_differs(ranking: tuple[list[float], np.ndarray]) -> None:
    scores, tied = ranking
    letters = [set(mine) for mine in tie_groups(scores, tied).letters]
    for i, j in itertools.product(range(len(scores)), repeat=2):
        assert bool(letters[i] & letters[j]) == tied[i, j]  # a model is tied with itself
    best_first = sorted(range(len(scores)), key=lambda i: -scores[i])
    assert not scores or "a" in letters[best_first[0]]


@given(rankings(), st.randoms(use_true_random=False))
def test_the_order_of_the_models_does_not_matter(ranking: tuple[list[float], np.ndarray], random: object) -> None:
    scores, tied = ranking
    order = list(range(len(scores)))
    random.shuffle(order)  # type: ignore[attr-defined]
    here, there = tie_groups(scores, tied), tie_groups([scores[i] for i in order], tied[np.ix_(order, order)])
    assert [here.letters[i] for i in order] == list(there.letters)
    assert here.groups == tuple(tuple(order[i] for i in group) for group in there.groups)


def test_a_model_without_a_score_is_in_no_group() -> None:
    found = tie_groups([0.5, math.nan, 0.6], np.ones((3, 3)))
    assert (found.groups, found.letters) == (((2, 0),), ("a", "", "a"))
    assert tie_groups([], []).groups == ()
    assert tie_groups([math.nan], [[1]]) == tie_groups([math.nan], [[0]])


def test_many_groups_keep_their_letters_apart() -> None:
    letters = tie_groups(np.arange(60.0)[::-1], np.eye(60)).letters
    assert len(set(letters)) == 60
    assert (letters[0], letters[51], letters[52]) == ("a", "Z", "a2")


def test_intervals_and_p_values_agree() -> None:
    centre = np.subtract.outer([3.0, 2.5, 1.0], [3.0, 2.5, 1.0])
    tied = tied_by_intervals(centre - 1, centre + 1)
    assert tied.tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    low, high = np.full((2, 2), 0.0), np.full((2, 2), 0.0)
    assert tied_by_intervals(low, high).all()  # identical runs: the interval is 0 itself


def test_a_comparison_that_was_not_made_shows_no_difference() -> None:
    nan = math.nan
    assert tied_by_p_values([[nan, nan], [nan, nan]]).all()
    assert tied_by_intervals([[nan, nan], [nan, nan]], [[nan, nan], [nan, nan]]).all()


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([[1, 0.5]], "square"),
        ([0.5], "square"),
        ([[1, 0.01], [0.5, 1]], "say the same"),
        ([[1, 1.5], [1.5, 1]], "between 0 and 1"),
        ([[1, -0.1], [-0.1, 1]], "between 0 and 1"),
    ],
)
def test_bad_p_values(p: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tied_by_p_values(p)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="alpha is 1"):
        tied_by_p_values([[1]], 1)
    with pytest.raises(ValueError, match="must not exceed"):
        tied_by_intervals([[0, 1], [1, 0]], [[0, -1], [-1, 0]])
    with pytest.raises(ValueError, match="say the same"):
        tied_by_intervals([[0, 1], [-1, 0]], [[0, 2], [1, 0]])
    with pytest.raises(ValueError, match="one shape"):
        tied_by_intervals([[0]], [[0, 0], [0, 0]])
    with pytest.raises(ValueError, match="scores has shape"):
        tie_groups([1, 2], [[1]])
    with pytest.raises(ValueError, match="say the same"):
        tie_groups([1, 2], [[1, 1], [0, 1]])
    with pytest.raises(TypeError, match="p_values must be a list"):
        tied_by_p_values("text")
    with pytest.raises(TypeError, match="scores must be a list"):
        tie_groups("ab", [[1]])
