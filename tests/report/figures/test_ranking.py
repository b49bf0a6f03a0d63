import math

import pytest

from lm_eval_ita.report.figures import Ranked, ranking
from tests.report.figures.helpers import intervals, markers, misplaced, names, panels, texts

ROWS = [
    Ranked("worst", 40.0, 38.0, 42.0, "b"),
    Ranked("none", None, 1.0, 2.0),
    Ranked("paper", 55.0, published=True),
    Ranked("best", 60.0, 58.0, 61.5, "a"),
    Ranked("broken", math.nan),
]


def test_best_first_missing_last() -> None:
    figure = ranking(ROWS, "t", "AVG")
    (axes,) = panels(figure)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["best", "paper", "worst", "none", "broken"]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in markers(axes)] == [(60, 0), (55, 1), (40, 2)]
    assert axes.yaxis_inverted()


def test_missing_is_a_gap_and_a_dash() -> None:
    figure = ranking(ROWS, "t", "AVG")
    (axes,) = panels(figure)
    rows = {line.get_ydata()[0] for line in [*markers(axes), *intervals(axes)]}
    assert rows == {0, 1, 2} | {line.get_ydata()[0] for line in intervals(axes)}
    assert len(intervals(axes)) == 2  # an interval without its value is not drawn
    assert texts(figure).count("–") == 2
    assert "0.0" not in texts(figure)


def test_intervals_end_where_they_end() -> None:
    (axes,) = panels(ranking(ROWS, "t", "AVG"))
    ends = [
        (min(x for x in line.get_xdata() if x == x), max(x for x in line.get_xdata() if x == x))
        for line in intervals(axes)
    ]
    assert ends == [(58.0, 61.5), (38.0, 42.0)]


def test_published_are_hollow() -> None:
    figure = ranking(ROWS, "t", "AVG")
    (axes,) = panels(figure)
    hollow = [line.get_markerfacecolor() == "#FFFFFF" for line in markers(axes)]
    assert hollow == [False, True, False]
    assert "published" in texts(figure)
    assert "published" not in texts(ranking(ROWS[:2], "t", "AVG"))


def test_letters_and_chance() -> None:
    figure = ranking(ROWS, "t", "AVG", chance=33.0)
    assert {"a", "b", "chance", "60.0", "40.0", "Models that share a letter do not differ significantly."} <= set(
        texts(figure)
    )
    (axes,) = panels(figure)
    assert [33, 33] in [list(line.get_xdata()) for line in axes.lines]
    assert axes.get_xlim()[0] < 33
    assert "chance" not in texts(ranking(ROWS, "t", "AVG"))


@pytest.mark.parametrize("count", [1, 7, 20])
def test_legible(count: int) -> None:
    rows = [Ranked(name, 50.0 + i, 48.0 + i, 53.0 + i, "abcdefg"[: i % 8]) for i, name in enumerate(names(count))]
    figure = ranking(rows, "A title " * 30, "AVG", 25)
    assert misplaced(figure) == []
    assert len(markers(panels(figure)[0])) == count


def test_all_missing() -> None:
    figure = ranking([Ranked("a", None), Ranked("b", None)], "t", "AVG")
    assert markers(panels(figure)[0]) == []


def test_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        ranking([], "t", "AVG")
