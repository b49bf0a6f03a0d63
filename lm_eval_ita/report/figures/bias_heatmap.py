"""Bias scores of all tests and models as a table of colours."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import BiasCell, BiasRow, known
from lm_eval_ita.report.figures.key import Box, Key
from lm_eval_ita.report.figures.sheet import EDGE, place, titled_figure
from lm_eval_ita.report.figures.text import fitted, signed, text_width, told_apart
from lm_eval_ita.report.figures.theme import GREY, INK, MUTED, SMALL, TEXT, ink_on, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

__all__ = ["STEPS", "bias_heatmap", "colour_of"]

# Brewer's orange to purple, turned: people of every kind of colour vision tell its ends apart. In 41 steps of 0.05.
_MAP, STEPS = "PuOr_r", 41
_CELL, _ROW = 0.5, 0.24  # inches
_NAME_AT_MOST, _TEST_AT_MOST, _GROUP_AT_MOST = 1.6, 2.4, 1.05
_ANGLE = 40
_BAR = 3.0
_UNABLE = Box("unable to do the test; score in brackets", "#E9E9E9", "////", "#C4C4C4")


@styled()
def bias_heatmap(rows: Sequence[BiasRow], models: Sequence[str], title: str) -> Figure:
    """Test by model, each cell with its score and stars.

    Cells of models that could not do the test are grey and hatched, their scores in brackets; a missing score is a dash
    on white.

    Args:
        rows: The tests from top to bottom.
        models: The columns.
        title: Above the figure.

    Raises:
        ValueError: No tests, no models, or a test without one cell for each model.
    """
    if not rows or not models:
        raise ValueError("there is nothing to draw")
    if any(len(row.cells) != len(models) for row in rows):
        raise ValueError(f"every test of this figure needs {len(models)} cells")
    tests = told_apart([row.test for row in rows], _TEST_AT_MOST, TEXT)
    names = told_apart(models, _NAME_AT_MOST, TEXT)
    groups = [fitted(row.group, _GROUP_AT_MOST, TEXT, bold=True) for row in rows]
    widest = max(text_width(group, TEXT, bold=True) for group in groups)
    left = EDGE + (widest + 0.15 if widest else 0) + max(text_width(test, TEXT) for test in tests) + 0.1
    longest = max(text_width(name, TEXT) for name in names)
    above = longest * math.sin(math.radians(_ANGLE)) + 0.2
    # The last column's name leans out to the right.
    right = max(EDGE, text_width(names[-1], TEXT) * math.cos(math.radians(_ANGLE)) - _CELL / 2 + EDGE)
    body, width = len(rows) * _ROW, max(left + len(models) * _CELL + right, _BAR + 1.3)
    key: list[Key] = [_UNABLE] if any(cell.unable for row in rows for cell in row.cells) else []
    figure, top = titled_figure(title, width, above + body + 0.68, key, _notes(rows))
    axes = place(figure, left, top + above, len(models) * _CELL, body)
    _frame(axes, tests, names)
    _groups(axes, groups, left - EDGE)
    for y, row in enumerate(rows):
        for x, cell in enumerate(row.cells):
            _cell(axes, x, y, cell)
    _bar(figure, top + above + body + 0.2)
    return figure


def colour_of(score: float) -> str:
    """The colour of a score, as "#RRGGBB"."""
    return _steps()[round((score + 1) / 2 * (STEPS - 1))]


@functools.cache
def _steps() -> tuple[str, ...]:
    from matplotlib.colors import to_hex

    colours = _colours()
    return tuple(to_hex(colours(step)).upper() for step in range(STEPS))


def _colours() -> ListedColormap:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[_MAP]([i / (STEPS - 1) for i in range(STEPS)]))


def _notes(rows: Sequence[BiasRow]) -> list[str]:
    cells = [cell for row in rows for cell in row.cells if known(cell.score) is not None]
    return ["** p < 0.05, * p < 0.10, each test alone."] if any(cell.stars for cell in cells) else []


def _frame(axes: Axes, tests: Sequence[str], names: Sequence[str]) -> None:
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(len(tests) - 0.5, -0.5)
    axes.set_yticks(range(len(tests)), labels=tests)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for x, name in enumerate(names):
        axes.annotate(
            name,
            (x, -0.5),
            xytext=(-2, 4),
            textcoords="offset points",
            rotation=_ANGLE,
            rotation_mode="anchor",
            ha="left",
            va="baseline",
            fontsize=TEXT,
            annotation_clip=False,
        )


def _groups(axes: Axes, groups: Sequence[str], room: float) -> None:
    """The name of each group at its first test, and a line above."""
    for y, group in enumerate(groups):
        if not group or (y and groups[y - 1] == group):
            continue
        axes.annotate(
            group,
            (0, y),
            xytext=(-room * 72, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontweight="bold",
            va="center_baseline",
            annotation_clip=False,
        )
        if y:
            axes.axhline(y - 0.5, color=INK, linewidth=0.9, zorder=5)


def _cell(axes: Axes, x: int, y: int, cell: BiasCell) -> None:
    from matplotlib.patches import Rectangle

    score = known(cell.score)
    if score is None:
        axes.text(x, y, "–", ha="center", va="center_baseline", fontsize=SMALL, color=MUTED)
        return
    colour = _UNABLE.colour if cell.unable else colour_of(score)
    hatch = _UNABLE.hatch if cell.unable else None
    # A hatching has the colour of the edge; the white between cells is room left free.
    square = Rectangle(
        (x - 0.485, y - 0.47), 0.97, 0.94, facecolor=colour, hatch=hatch, edgecolor=_UNABLE.hatch_colour, linewidth=0
    )
    axes.add_artist(square)
    shown = signed(score) + "*" * cell.stars
    axes.text(
        x,
        y,
        f"({shown})" if cell.unable else shown,
        ha="center",
        va="center_baseline",
        fontsize=SMALL - 0.5,
        color=INK if cell.unable else ink_on(colour),
    )


def _bar(figure: Figure, y: float) -> None:
    """The colours' meaning, as vector shapes: matplotlib's own colour bar is a picture in an SVG."""
    from matplotlib.patches import Rectangle

    axes = place(figure, EDGE + 0.45, y, _BAR, 0.11)
    for step in range(STEPS):
        score = -1 + 2 * step / (STEPS - 1)
        colour = colour_of(score)
        axes.add_artist(Rectangle((score - 1 / (STEPS - 1), 0), 2 / (STEPS - 1), 1, facecolor=colour, edgecolor=colour))
    axes.set_xlim(-1 - 1 / (STEPS - 1), 1 + 1 / (STEPS - 1))
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_xticks([-1, 0, 1], labels=["−1\nreverse stereotype", "0\nno association", "+1\nstereotype"])
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(axis="x", colors=GREY, labelcolor=INK)
