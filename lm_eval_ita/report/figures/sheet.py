"""The common form of most figures: panels of rows, with the rows' names on the left and figures on the right.

Everything has its place in inches, measured from the texts. A figure grows in height with its rows and panels; the
sizes of letters and marks stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.key import Key, key_height, place_key
from lm_eval_ita.report.figures.text import fitted, text_width, told_apart, wrapped
from lm_eval_ita.report.figures.theme import INK, MUTED, SMALL, TEXT, TITLE, WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "Plan", "Sheet", "place", "sheet", "titled_figure"]

EDGE = 0.1  # inches of white around everything
LINE = 0.16  # inches from line to line of text
_TICKS = 0.24
_GAP = 0.16
_LABELS_AT_MOST = 2.1


@dataclass(frozen=True)
class Panel:
    """What is written above a panel."""

    title: str = ""
    subtitle: str = ""


@dataclass(frozen=True)
class Plan:
    """What a sheet holds.

    Attributes:
        title: Above everything; wrapped.
        rows: The rows' names, the same in all panels.
        panels: One or more.
        counts: A second column of short texts beside the names, its head first; empty: none.
        xlabel: Below the panels.
        row: Inches from row to row.
        narrowest: Inches that a panel needs at least.
        right: Inches to the right of each panel, for figures.
        key: What the marks mean.
        notes: Below the key, each a sentence.
    """

    title: str
    rows: Sequence[str]
    panels: Sequence[Panel]
    counts: Sequence[str] = ()
    xlabel: str = ""
    row: float = 0.18
    narrowest: float = 1.35
    right: float = 0.4
    key: Sequence[Key] = ()
    notes: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Sheet:
    """A figure with its panels, each row r of a panel at y = r."""

    figure: Figure
    panels: list[Axes]

    def beside(self, panel: int, row: float, text: str, *, inches: float = 0.07, muted: bool = False) -> None:
        """Write to the right of a panel, starting so many inches from its edge."""
        _write(self.panels[panel], 1.0, inches, row, text, "left", MUTED if muted else INK)


def sheet(plan: Plan) -> Sheet:
    """Lay out a sheet; what is in the panels is the caller's.

    Raises:
        ValueError: No rows or no panels.
    """
    if not plan.rows or not plan.panels:
        raise ValueError("there is nothing to draw")
    names = told_apart(plan.rows, _LABELS_AT_MOST, TEXT)
    counts = max((text_width(text, SMALL) for text in plan.counts), default=-0.1) + 0.1
    left = EDGE + max(text_width(name, TEXT) for name in names) + counts + 0.1
    room = WIDTH - left - EDGE
    columns = max(1, min(len(plan.panels), int((room + _GAP) / (plan.narrowest + plan.right + _GAP))))
    lines = math.ceil(len(plan.panels) / columns)
    columns = math.ceil(len(plan.panels) / lines)
    across = (room - (columns - 1) * _GAP) / columns
    header = LINE * max(bool(p.title) + bool(p.subtitle) for p in plan.panels) + 0.06
    body, step = len(plan.rows) * plan.row, len(plan.rows) * plan.row + header + _TICKS
    figure, top = titled_figure(plan.title, WIDTH, lines * step + (LINE if plan.xlabel else 0), plan.key, plan.notes)
    made = Sheet(figure, [])
    above = across - plan.right * 0.1
    titles = told_apart([panel.title for panel in plan.panels], above, TEXT, bold=True)
    for position, (title, panel) in enumerate(zip(titles, plan.panels, strict=True)):
        x = left + (position % columns) * (across + _GAP)
        y = top + (position // columns) * step + header
        axes = place(figure, x, y, across - plan.right, body)
        _rows(axes, names if position % columns == 0 else [], len(names))
        _head(axes, title, fitted(panel.subtitle, above, SMALL))
        if position % columns == 0:
            _counts(axes, plan.counts)
        made.panels.append(axes)
    if plan.xlabel:
        middle = (left + WIDTH - EDGE - plan.right) / 2
        _below(figure, fitted(plan.xlabel, room, TEXT), middle, top + lines * step + 0.02)
    return made


def titled_figure(
    title: str, width: float, body: float, key: Sequence[Key], notes: Sequence[str]
) -> tuple[Figure, float]:
    """A figure with its title above, its key and notes below, and room for the body.

    Returns:
        The figure, and where the body begins: inches from the top.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    room = width - 2 * EDGE
    heading = wrapped(title, room, TITLE, bold=True) if title.strip() else []
    sentences = [line for note in notes for line in wrapped(note, room, SMALL, lines=3)]
    top = EDGE + len(heading) * LINE * 1.2 + 0.04
    below = key_height(key, room) + (0.08 if key else 0) + len(sentences) * LINE * 0.85 + (0.06 if notes else 0)
    height = top + body + below + EDGE
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    figure.set_label(" ".join(heading))
    _lines(figure, heading, EDGE, LINE * 1.2, TITLE, INK, bold=True)
    at = top + body + (0.08 if key else 0)
    place_key(figure, key, EDGE, at, room)
    _lines(figure, sentences, at + key_height(key, room) + 0.06, LINE * 0.85, SMALL, MUTED)
    return figure, top


def place(figure: Figure, x: float, y: float, width: float, height: float) -> Axes:
    """Axes at a place given in inches from the figure's upper left corner."""
    whole_width, whole_height = figure.get_size_inches()
    return figure.add_axes(
        (x / whole_width, 1 - (y + height) / whole_height, width / whole_width, height / whole_height)
    )


def _rows(axes: Axes, names: Sequence[str], count: int) -> None:
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks(range(count), labels=names or [""] * count)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="both")


def _head(axes: Axes, title: str, subtitle: str) -> None:
    lines = [
        (subtitle, SMALL, MUTED, "normal"),
        (title, TEXT, INK, "bold"),
    ]
    offset = 3.0
    for text, size, colour, weight in lines:
        if text:
            axes.annotate(
                text,
                (0, 1),
                xytext=(0, offset),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=size,
                color=colour,
                fontweight=weight,
            )
            offset += LINE * 72 * 0.85


def _counts(axes: Axes, counts: Sequence[str]) -> None:
    if not counts:
        return
    head, *texts = counts
    for row, text in enumerate(texts):
        _write(axes, 0.0, -0.06, row, text, "right", MUTED)
    _write(axes, 0.0, -0.06, -0.8, head, "right", MUTED)
    axes.tick_params(axis="y", pad=9 + 72 * max(text_width(text, SMALL) for text in counts))


def _write(axes: Axes, edge: float, inches: float, row: float, text: str, side: str, colour: str) -> None:
    axes.annotate(
        text,
        (edge, row),
        xytext=(inches * 72, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha=side,
        va="center_baseline",
        fontsize=SMALL,
        color=colour,
        annotation_clip=False,
    )


def _below(figure: Figure, text: str, x: float, y: float) -> None:
    width, height = figure.get_size_inches()
    figure.text(x / width, 1 - y / height, text, ha="center", va="top", fontsize=TEXT)


def _lines(
    figure: Figure, lines: Sequence[str], y: float, step: float, size: float, colour: str, *, bold: bool = False
) -> None:
    width, height = figure.get_size_inches()
    for position, line in enumerate(lines):
        figure.text(
            EDGE / width,
            1 - (y + position * step) / height,
            line,
            ha="left",
            va="top",
            fontsize=size,
            color=colour,
            fontweight="bold" if bold else "normal",
        )
