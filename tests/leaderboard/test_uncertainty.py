"""Intervals of means, and groups of places."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.leaderboard.uncertainty import places, row_intervals, standard_error
from lm_eval_ita.results.records import ModelIdentity
from lm_eval_ita.results.suite import Cell, Column, Row, with_means

Z = 1.959963984540054
COLUMNS = (
    Column("a", "nlu", ("t_a",), "acc"),
    Column("b", "nlu", ("t_b",), "acc"),
    Column("c", "cfk", ("t_c",), "acc"),
)


def around(value: float, error: float) -> tuple[float, float]:
    return value - Z * error, value + Z * error


def row(**scores: float) -> Row:
    cells = {name: Cell(score) for name, score in scores.items()}
    return with_means(Row("m", ModelIdentity(name="m"), cells), COLUMNS)


def test_variances_of_tasks_add_up() -> None:
    by_task = {"t_a": around(0.5, 0.03), "t_b": around(0.7, 0.04), "t_c": around(0.4, 0.05)}
    found = row_intervals(row(a=0.5, b=0.7, c=0.4), COLUMNS, by_task)
    assert found["a"] == by_task["t_a"]
    # sqrt(0.03² + 0.04²) / 2 = 0.025; of the mean of means sqrt(0.025² + 0.05²) / 2 = 0.0279508
    assert standard_error(found["nlu"]) == pytest.approx(0.025)
    assert sum(found["nlu"]) / 2 == pytest.approx(0.6)
    assert standard_error(found["avg"]) == pytest.approx(0.02795084971)
    assert sum(found["avg"]) / 2 == pytest.approx(0.5)


def test_a_mean_without_all_intervals_has_none() -> None:
    found = row_intervals(row(a=0.5, b=0.7, c=0.4), COLUMNS, {"t_a": (0.4, 0.6), "t_c": (0.3, 0.5)})
    assert set(found) == {"a", "c", "cfk"}


def test_a_missing_score_has_no_interval() -> None:
    whole = row(a=0.5, b=0.7, c=0.4)
    gap = with_means(replace(whole, cells={**whole.cells, "b": Cell(None)}), COLUMNS)
    found = row_intervals(gap, COLUMNS, {"t_a": (0.4, 0.6), "t_b": (0.4, 0.6), "t_c": (0.3, 0.5)})
    assert set(found) == {"a", "c", "cfk"}


def test_a_column_of_two_tasks_takes_their_mean() -> None:
    column = Column("news", "nlu", ("t_1", "t_2"), "bertscore")
    two = with_means(Row("m", ModelIdentity(name="m"), {"news": Cell(0.3)}), (column,))
    found = row_intervals(two, (column,), {"t_1": around(0.2, 0.03), "t_2": around(0.4, 0.04)})
    assert standard_error(found["news"]) == pytest.approx(0.025)
    assert sum(found["news"]) / 2 == pytest.approx(0.3)


def test_places() -> None:
    # Errors 0.01: two models differ from 1.96 * 0.01414 = 0.0277 on.
    values = [0.60, 0.58, 0.57, 0.50, 0.49, 0.30]
    intervals = [around(value, 0.01) for value in values]
    # 0.57 is 0.03 from the first of its group, so it begins another one, although it is not told apart from 0.58.
    assert places(values, intervals) == [(1, 2), (1, 2), (3, 3), (4, 5), (4, 5), (6, 6)]


def test_without_intervals_only_equal_values_share_a_place() -> None:
    assert places([0.6, 0.6, 0.5], [None, None, None]) == [(1, 2), (1, 2), (3, 3)]
    assert places([0.6, 0.59], [(0.0, 1.0), None]) == [(1, 1), (2, 2)]
    assert places([], []) == []


@given(st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(0, 0.2)), max_size=30))
def test_groups_are_whole_and_in_order(models: list[tuple[float, float | None]]) -> None:
    ordered = sorted(models, key=lambda each: -each[0])
    values = [value for value, _ in ordered]
    intervals = [None if error is None else around(value, error) for value, error in ordered]
    found = places(values, intervals)
    assert [place for place, (first, last) in enumerate(found, 1) if not first <= place <= last] == []
    for first, last in found:
        assert all(found[place - 1] == (first, last) for place in range(first, last + 1))
    for i, (first, _) in enumerate(found):
        one, two = intervals[first - 1], intervals[i]
        if one is not None and two is not None:
            apart = values[first - 1] - values[i]
            assert apart <= Z * math.hypot(standard_error(one), standard_error(two)) + 1e-12
