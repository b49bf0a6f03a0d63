import math

import pytest

from lm_eval_ita.report.figures import RadarModel, radar
from tests.report.figures.helpers import markers, misplaced, names, panels, texts

AXES = ("one", "two", "three", "four")


def test_corners() -> None:
    """Clockwise from the top; 100 is one radius away from the middle."""
    (axes,) = panels(radar([RadarModel("a", (100.0, 50.0, 20.0, 0.0))], AXES, "t"))
    (line,) = markers(axes)
    assert line.get_xdata() == pytest.approx([0, 0.5, 0, 0, 0], abs=1e-12)
    assert line.get_ydata() == pytest.approx([1, 0, -0.2, 0, 1], abs=1e-12)


def test_missing_breaks_the_line() -> None:
    figure = radar([RadarModel("a", (80.0, None, 60.0, math.nan))], AXES, "t")
    (line,) = markers(panels(figure)[0])
    assert [math.isnan(x) for x in line.get_xdata()] == [False, True, False, True, False]
    assert "A line is broken where the model has no value." in texts(figure)
    assert "A line is broken where the model has no value." not in texts(
        radar([RadarModel("a", (1.0,) * 4)], AXES, "t")
    )


def test_negative_values_move_the_middle() -> None:
    (axes,) = panels(radar([RadarModel("a", (-20.0, 100.0, 40.0, 40.0))], AXES, "t"))
    (line,) = markers(axes)
    assert line.get_xdata()[1] == pytest.approx(1)
    assert line.get_ydata()[0] == pytest.approx(0)
    assert line.get_ydata()[2] == pytest.approx(-0.5)  # 60 of 120


@pytest.mark.parametrize(("models", "axes"), [(1, 3), (6, 8), (2, 18)])
def test_legible(models: int, axes: int) -> None:
    rows = [RadarModel(name, tuple(30.0 + 3 * i + j for j in range(axes))) for i, name in enumerate(names(models))]
    figure = radar(rows, [f"HaSpeeDe2 stereotype {i}" for i in range(axes)], "t")
    assert misplaced(figure) == []
    assert len(markers(panels(figure)[0])) == models
    shapes = {(line.get_color(), line.get_marker()) for line in markers(panels(figure)[0])}
    assert len(shapes) == models


@pytest.mark.parametrize(
    ("models", "axes", "words"),
    [
        ([RadarModel("a", (1.0, 2.0))], ("one", "two"), "at least 3 axes"),
        ([], AXES, "1 to 6 models"),
        ([RadarModel(str(i), (1.0,) * 4) for i in range(7)], AXES, "1 to 6 models"),
        ([RadarModel("a", (1.0,) * 3)], AXES, "needs 4 values"),
    ],
)
def test_refused(models: list[RadarModel], axes: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        radar(models, axes, "t")
