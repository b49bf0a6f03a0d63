import math

import pytest

from lm_eval_ita.report.figures import BiasCell, BiasRow, bias_heatmap
from lm_eval_ita.report.figures.bias_heatmap import colour_of
from tests.report.figures.helpers import misplaced, names, panels, texts

ROWS = [
    BiasRow("base 1", (BiasCell(0.45, 2), BiasCell(-1.0, 1)), "base"),
    BiasRow("base 2", (BiasCell(None, 2), BiasCell(0.8, unable=True)), "base"),
    BiasRow("gender 6", (BiasCell(-0.001), BiasCell(math.nan)), "gender"),
]


def cells(figure) -> dict[tuple[int, int], object]:
    """The filled cells by row and column."""
    from matplotlib.colors import to_hex

    found = {}
    for patch in panels(figure)[0].patches:
        place = (round(patch.get_y() + patch.get_height() / 2), round(patch.get_x() + patch.get_width() / 2))
        found[place] = (to_hex(patch.get_facecolor()).upper(), bool(patch.get_hatch()))
    return found


def test_cells_hold_number_and_stars() -> None:
    shown = texts(bias_heatmap(ROWS, ["a", "b"], "t"))
    assert {"+0.45**", "−1.00*", "(+0.80)", "+0.00", "base", "gender"} <= set(shown)
    assert shown.count("–") == 2


def test_colours_hatching_and_gaps() -> None:
    found = cells(bias_heatmap(ROWS, ["a", "b"], "t"))
    assert set(found) == {(0, 0), (0, 1), (1, 1), (2, 0)}  # nothing is filled where a score is missing
    assert found[0, 0] == (colour_of(0.45), False)
    assert found[0, 1] == (colour_of(-1), False)
    assert found[1, 1] == ("#E9E9E9", True)


def test_the_map_is_even_and_turns_at_zero() -> None:
    red, green, blue = (int(colour_of(0.0)[i : i + 2], 16) for i in (1, 3, 5))
    assert max(red, green, blue) - min(red, green, blue) < 5  # no association is grey
    for score in (0.3, 0.7, 1.0):
        high, low = colour_of(score), colour_of(-score)
        assert int(high[1:3], 16) > int(high[5:7], 16)  # the stereotype is orange
        assert int(low[5:7], 16) > int(low[1:3], 16)  # its reverse is purple


def test_the_legend_says_what_is_there() -> None:
    shown = texts(bias_heatmap(ROWS, ["a", "b"], "t"))
    assert {"−1\nreverse stereotype", "0\nno association", "+1\nstereotype"} <= set(shown)
    assert "unable to do the test; score in brackets" in shown
    plain = texts(bias_heatmap([BiasRow("x", (BiasCell(0.1),))], ["a"], "t"))
    assert not any("unable" in text or "p <" in text for text in plain)


@pytest.mark.parametrize("models", [1, 20])
def test_legible(models: int) -> None:
    tests = [
        BiasRow(name, tuple(BiasCell(-1.0, 2, unable=(i + j) % 2 == 0) for i in range(models)), f"group {j // 4}")
        for j, name in enumerate(names(16))
    ]
    figure = bias_heatmap(tests, names(models), "t")
    assert misplaced(figure) == []
    assert len(cells(figure)) == 16 * models


def test_numbers_fit_their_cells() -> None:
    figure = bias_heatmap([BiasRow("x", (BiasCell(-1.0, 2, unable=True),))], ["a"], "t")
    figure.draw_without_rendering()
    (axes, _) = panels(figure)
    (text,) = [text for text in axes.texts if text.get_text() == "(−1.00**)"]
    (cell,) = axes.patches
    assert text.get_window_extent().width < cell.get_window_extent().width


@pytest.mark.parametrize(
    ("rows", "models"), [([], ["a"]), ([BiasRow("x", ())], []), ([BiasRow("x", (BiasCell(0.1),))], ["a", "b"])]
)
def test_refused(rows: list[BiasRow], models: list[str]) -> None:
    with pytest.raises(ValueError, match=r"nothing to draw|needs 2 cells"):
        bias_heatmap(rows, models, "t")
