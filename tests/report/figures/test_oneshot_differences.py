import pytest

from lm_eval_ita.report.figures import OneShot, oneshot_differences
from lm_eval_ita.report.figures.theme import COLOURS, GREY
from tests.report.figures.helpers import markers, misplaced, names, panels, texts

ROWS = [
    OneShot("base 1", 0.45, 0.29, 0.05, 0.28),
    OneShot("base 2", 0.1, -0.3),
    OneShot("base 3", 0.2, None),
    OneShot("base 4", None, None),
]


def joins(axes) -> list[tuple[float, float, str]]:
    found = []
    for line in axes.lines:
        if line.get_linewidth() > 2 and line.get_marker() in ("None", ""):
            found.append((*line.get_xdata(), line.get_color()))
    return found


def test_pairs_are_joined_and_the_colour_says_where_bias_went() -> None:
    (axes,) = panels(oneshot_differences(ROWS, "t"))
    assert joins(axes) == [(0.45, 0.29, COLOURS[0]), (0.1, -0.3, COLOURS[1])]  # |-0.3| is more than |0.1|


def test_a_bias_that_turned_round_is_neither_smaller_nor_larger() -> None:
    figure = oneshot_differences([OneShot("base 1", 0.2, -0.2), OneShot("base 2", 0.3, 0.3)], "t")
    assert joins(panels(figure)[0]) == [(0.2, -0.2, GREY)]
    assert "|s| the same" in texts(figure)
    assert "|s| larger" not in texts(figure)


def test_standard_is_filled_and_one_shot_hollow() -> None:
    (axes,) = panels(oneshot_differences(ROWS, "t"))
    found = [(*line.get_xdata(), *line.get_ydata(), line.get_markerfacecolor() == "#FFFFFF") for line in markers(axes)]
    assert found == [(0.45, 0, False), (0.29, 0, True), (0.1, 1, False), (-0.3, 1, True), (0.2, 2, False)]


def test_differences_are_written_with_their_interval() -> None:
    shown = texts(oneshot_differences(ROWS, "t"))
    assert {"+0.16 [+0.05, +0.28]", "+0.40"} <= set(shown)
    assert shown.count("–") == 2


def test_models_have_a_panel_each_on_one_axis() -> None:
    rows = [OneShot("base 1", 0.9, 0.1, model="a"), OneShot("base 2", 0.1, 0.2, model="b")]
    figure = oneshot_differences(rows, "t")
    assert [axes.get_xlim() for axes in panels(figure)] == [(-1, 1), (-1, 1)]
    assert [len(markers(axes)) for axes in panels(figure)] == [2, 2]
    assert texts(figure).count("–") == 2  # a test that a model lacks


@pytest.mark.parametrize("models", [1, 8])
def test_legible(models: int) -> None:
    rows = [OneShot(test, 0.1, -0.2, -0.1, 0.3, model=model) for test in names(10) for model in names(models)]
    assert misplaced(oneshot_differences(rows, "t")) == []


def test_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        oneshot_differences([], "t")
    with pytest.raises(ValueError, match="twice"):
        oneshot_differences([ROWS[0], ROWS[0]], "t")
