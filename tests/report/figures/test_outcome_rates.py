import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.report.figures import Outcomes, outcome_rates
from tests.report.figures.helpers import misplaced, names, panels, texts

ROWS = [
    Outcomes("base 1", "a", 0.59, 0.36, 0.01, 0.04),
    Outcomes("base 2", "a", 0.0, 0.5, 0.0, 0.5),
    Outcomes("base 1", "b", 0.25, 0.25, 0.25, 0.25),
    Outcomes("base 2", "b", 0.25, None, 0.25, 0.25),
]


def bars(axes) -> dict[int, list[tuple[float, float]]]:
    """Start and length of each share, by row."""
    found: dict[int, list[tuple[float, float]]] = {}
    for patch in axes.patches:
        found.setdefault(round(patch.get_y() + patch.get_height() / 2), []).append((patch.get_x(), patch.get_width()))
    return found


def test_bars_are_whole() -> None:
    one, two = panels(outcome_rates(ROWS, "t"))
    assert [width for _, width in bars(one)[0]] == pytest.approx([0.59, 0.36, 0.01, 0.04])
    assert bars(one)[1] == [(0.0, 0.5), (0.5, 0.5)]  # a share of 0 has no bar
    assert sum(width for _, width in bars(two)[0]) == pytest.approx(1)


def test_a_missing_share_leaves_out_the_bar() -> None:
    figure = outcome_rates(ROWS, "t")
    assert set(bars(panels(figure)[1])) == {0}
    assert texts(figure).count("–") == 1


@settings(max_examples=8, deadline=None)
@given(st.tuples(*[st.integers(0, 50)] * 4).filter(any))
def test_shares_follow_each_other_and_sum_to_1(counts: tuple[int, int, int, int]) -> None:
    shares = [count / sum(counts) for count in counts]
    (axes,) = panels(outcome_rates([Outcomes("t", "m", *shares)], "t"))
    end = 0.0
    for start, width in bars(axes)[0]:
        assert start == pytest.approx(end)
        end = start + width
    assert end == pytest.approx(1)


def test_values_stand_inside_where_there_is_room() -> None:
    shown = texts(outcome_rates(ROWS[:1], "t"))
    assert {"59", "36", "4"} <= set(shown)
    assert "1" not in shown


def test_colour_is_not_alone() -> None:
    """In grey the two attributes look alike; one is hatched."""
    (axes,) = panels(outcome_rates([Outcomes("t", "m", 0.25, 0.25, 0.25, 0.25)], "t"))
    assert [bool(patch.get_hatch()) for patch in axes.patches] == [False, True, False, False]


@pytest.mark.parametrize("models", [1, 8])
def test_legible(models: int) -> None:
    rows = [Outcomes(test, model, 0.1, 0.2, 0.3, 0.4) for test in names(10) for model in names(models)]
    figure = outcome_rates(rows, "t")
    assert misplaced(figure) == []
    assert [len(axes.patches) for axes in panels(figure)] == [40] * models


def test_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        outcome_rates([], "t")
    with pytest.raises(ValueError, match="twice"):
        outcome_rates([ROWS[0], ROWS[0]], "t")
