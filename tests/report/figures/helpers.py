"""What tests read off a figure."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from lm_eval_ita.report.figures.theme import styled

# Markup, mathematics, lengths, other scripts, nothing at all, control and half characters, matplotlib's own marks.
ODD = (
    "<script>alert('x')</script>",
    r"$\alpha_{x}^2$ & \frac",
    "x" * 10_000,
    "x" * 5_000 + "y" + "x" * 4_999,
    "نموذج اللغة العربية",
    "模型一号",
    "🤖 robot\nline two\ttab",
    "_underscore",
    "",
    "a\u202eb\u0000c\ud800d",
)


def names(count: int) -> list[str]:
    return [ODD[i] if i < len(ODD) else f"org/Model-{i}-Instruct-v0.{i}" for i in range(count)]


def markers(axes: Any) -> list[Any]:
    """The values in a panel: lines that are one marker."""
    return [line for line in axes.lines if line.get_marker() not in ("None", "", None)]


def intervals(axes: Any) -> list[Any]:
    """The intervals in a panel: a line between two caps."""
    return [line for line in axes.lines if len(line.get_xdata()) == 8]


def texts(figure: Any) -> list[str]:
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def panels(figure: Any) -> list[Any]:
    return list(figure.axes)


@styled()
def _boxes(figure: Any) -> Iterator[tuple[str, Any]]:
    from matplotlib.text import Text

    figure.draw_without_rendering()
    shown = []
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_visible() and text.get_rotation() == 0:
            shown.append((text.get_text(), text.get_window_extent()))
    return iter(shown)


def misplaced(figure: Any) -> list[str]:
    """Texts that leave the figure or lie on one another (turned ones apart), by over a point and a half."""
    slack = 1.5 * figure.dpi / 72
    boxes = list(_boxes(figure))
    wrong = [
        f"{text!r} leaves the figure"
        for text, box in boxes
        if box.x0 < -slack or box.y0 < -slack or box.x1 > figure.bbox.x1 + slack or box.y1 > figure.bbox.y1 + slack
    ]
    for (one, a), (two, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > slack and down > slack:
            wrong.append(f"{one!r} lies on {two!r}")
    return wrong
