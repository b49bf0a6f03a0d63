import pytest

from lm_eval_ita.report.figures import Part, breakdown
from tests.report.figures.helpers import markers, misplaced, names, panels, texts

PARTS = [Part("slur_h", 144, (80.0, None)), Part("threat_dir_h", 1330, (0.0, 60.0)), Part("negate", None, (None, None))]


def test_one_marker_for_each_value() -> None:
    figure = breakdown(PARTS, ["a", "b"], "t", "accuracy", chance=50)
    (axes,) = panels(figure)
    assert [(line.get_xdata()[0], round(line.get_ydata()[0])) for line in markers(axes)] == [(80, 0), (0, 1), (60, 1)]
    shapes = [line.get_marker() for line in markers(axes)]
    assert shapes[0] == shapes[1] != shapes[2]
    assert {"n", "144", "1,330", "–", "No marker: no value.", "chance"} <= set(texts(figure))
    assert [50, 50] in [list(line.get_xdata()) for line in axes.lines]


def test_equal_values_do_not_hide_each_other() -> None:
    (axes,) = panels(breakdown([Part("x", 1, (50.0,) * 6)], list("abcdef"), "t", "accuracy"))
    heights = [line.get_ydata()[0] for line in markers(axes)]
    assert len(set(heights)) == 6
    assert max(map(abs, heights)) < 0.5  # still in its own row


def test_many_models_have_a_panel_each_with_the_range_of_all() -> None:
    values = tuple(10.0 * i for i in range(7))
    figure = breakdown([Part("x", 1, values), Part("y", 2, (None,) * 7)], list("abcdefg"), "t", "accuracy")
    assert [line.get_xdata()[0] for axes in panels(figure) for line in markers(axes)] == list(values)
    for axes in panels(figure):
        assert [0, 60] in [list(line.get_xdata()) for line in axes.lines]
    assert "range of all models" in texts(figure)


def test_correlations() -> None:
    (axes,) = panels(breakdown([Part("x", 1, (-0.4,))], ["a"], "t", "MCC", whole=(-1, 1)))
    assert axes.get_xlim()[0] < -1
    assert axes.get_xlim()[1] > 1
    assert [label.get_text() for label in axes.get_xticklabels()] == ["−1.0", "−0.5", "0.0", "0.5", "1.0"]


def test_without_counts() -> None:
    assert "n" not in texts(breakdown([Part("x", None, (1.0,))], ["a"], "t", "accuracy"))


@pytest.mark.parametrize(("models", "parts"), [(1, 1), (6, 30), (20, 10)])
def test_legible(models: int, parts: int) -> None:
    rows = [Part(name, 10**6, tuple(5.0 * i for i in range(models))) for name in names(parts)]
    figure = breakdown(rows, names(models), "t", "accuracy", 50)
    assert misplaced(figure) == []
    assert sum(len(markers(axes)) for axes in panels(figure)) == models * parts


def test_refused() -> None:
    with pytest.raises(ValueError, match="each of 1 models"):
        breakdown(PARTS, ["a"], "t", "x")
    with pytest.raises(ValueError, match="nothing"):
        breakdown([], ["a"], "t", "x")
    with pytest.raises(ValueError, match="each of 0 models"):
        breakdown([Part("x", 1, ())], [], "t", "x")
