"""Keys: what marks mean, in as many columns as fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lm_eval_ita.report.figures.text import text_width, told_apart
from lm_eval_ita.report.figures.theme import SMALL, Look

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["Box", "Dot", "Key", "Rule", "key_height", "place_key"]

_LINE = 0.165  # inches
_HANDLE, _PAD, _BETWEEN = 2.0, 0.6, 1.6  # in letter sizes
_LONGEST = 2.8  # inches


@dataclass(frozen=True)
class Dot:
    """A marker, with a line through it where the figure has one."""

    label: str
    look: Look
    hollow: bool = False
    line: bool = False


@dataclass(frozen=True)
class Rule:
    """A line."""

    label: str
    colour: str
    style: Literal["-"] | tuple[float, tuple[float, ...]] = "-"
    width: float = 1.2


@dataclass(frozen=True)
class Box:
    """A filled area."""

    label: str
    colour: str
    hatch: str = ""
    hatch_colour: str = "#FFFFFF"


Key = Dot | Rule | Box


def key_height(key: Sequence[Key], room: float) -> float:
    """How high the key is, in inches, in so many inches of width."""
    return math.ceil(len(key) / _columns(key, room)) * _LINE if key else 0.0


def place_key(figure: Figure, key: Sequence[Key], x: float, y: float, room: float) -> None:
    """Draw the key with its upper left corner at a place given in inches from the figure's upper left corner."""
    if not key:
        return
    width, height = figure.get_size_inches()
    legend = figure.legend(
        handles=[_artist(entry) for entry in key],
        labels=["-"] * len(key),
        loc="upper left",
        bbox_to_anchor=(x / width, 1 - y / height),
        ncols=_columns(key, room),
        fontsize=SMALL,
        borderpad=0,
        borderaxespad=0,
        handlelength=_HANDLE,
        handletextpad=_PAD,
        columnspacing=_BETWEEN,
        labelspacing=_LINE * 72 / SMALL - 1.1,
    )
    # Set afterwards: matplotlib leaves out entries whose label begins with "_".
    for text, label in zip(legend.get_texts(), _labels(key), strict=True):
        text.set_text(label)


def _labels(key: Sequence[Key]) -> list[str]:
    return told_apart([entry.label for entry in key], _LONGEST, SMALL)


def _columns(key: Sequence[Key], room: float) -> int:
    """The most columns that fit; entries go down the columns, the first of which are the longer ones."""
    em = SMALL / 72
    widths = [text_width(label, SMALL) + (_HANDLE + _PAD + _BETWEEN) * em for label in _labels(key)]
    for columns in range(len(key), 1, -1):
        sizes = [len(key) // columns + (i < len(key) % columns) for i in range(columns)]
        starts = [sum(sizes[:i]) for i in range(columns)]
        if sum(max(widths[a : a + size]) for a, size in zip(starts, sizes, strict=True)) <= room:
            return columns
    return 1


def _artist(entry: Key) -> Artist:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if isinstance(entry, Box):
        return Patch(facecolor=entry.colour, hatch=entry.hatch, edgecolor=entry.hatch_colour, linewidth=0)
    if isinstance(entry, Rule):
        return Line2D([], [], color=entry.colour, linestyle=entry.style, linewidth=entry.width)
    return Line2D(
        [],
        [],
        color=entry.look.colour,
        linestyle="-" if entry.line else "none",
        linewidth=1.2,
        marker=entry.look.marker,
        markersize=5,
        markerfacecolor="#FFFFFF" if entry.hollow else entry.look.colour,
        markeredgecolor=entry.look.colour,
    )
