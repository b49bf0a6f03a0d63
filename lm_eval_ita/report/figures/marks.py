"""What is drawn in panels: a value with its interval, and lines to compare it with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import known
from lm_eval_ita.report.figures.key import Rule
from lm_eval_ita.report.figures.theme import GREY, INK, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CHANCE", "MAJORITY", "dot", "interval", "reference", "span", "zero_line"]

CHANCE = Rule("chance", INK, (0, (4.0, 2.0)), 0.9)
MAJORITY = Rule("always the commonest answer", INK, (0, (1.0, 1.4)), 1.1)

_CAP = 0.2  # of a row


def dot(axes: Axes, x: float, y: float, look: Look, *, hollow: bool = False, size: float = 5.0) -> None:
    """One value."""
    axes.plot(
        [x],
        [y],
        linestyle="none",
        marker=look.marker,
        markersize=size,
        markerfacecolor="#FFFFFF" if hollow else look.colour,
        markeredgecolor=look.colour,
        markeredgewidth=1.0,
        clip_on=False,
        zorder=4,
    )


def interval(axes: Axes, low: float | None, high: float | None, y: float, colour: str) -> None:
    """The line from one end of an interval to the other; nothing where an end is missing."""
    low, high = known(low), known(high)
    if low is not None and high is not None:
        # Caps, since an interval can be as short as its marker is wide.
        xs = [low, low, math.nan, low, high, math.nan, high, high]
        ys = [y - _CAP, y + _CAP, math.nan, y, y, math.nan, y - _CAP, y + _CAP]
        axes.plot(xs, ys, color=colour, linewidth=1.1, solid_capstyle="butt", clip_on=False, zorder=3)


def reference(axes: Axes, x: float | None, rule: Rule) -> None:
    """A line across the panel; nothing where the value is missing."""
    if (at := known(x)) is not None:
        axes.axvline(at, color=rule.colour, linestyle=rule.style, linewidth=rule.width, zorder=2)


def span(values: Iterable[float | None], whole: tuple[float, float] = (0.0, 100.0)) -> tuple[float, float]:
    """The limits of an axis: `whole`, and in tens beyond it where values lie there."""
    there = [value for value in map(known, values) if value is not None]
    step = (whole[1] - whole[0]) / 10
    low, high = min(there, default=whole[0]), max(there, default=whole[1])
    return (
        whole[0] if low >= whole[0] else math.floor(low / step) * step,
        whole[1] if high <= whole[1] else math.ceil(high / step) * step,
    )


def zero_line(axes: Axes) -> None:
    """A quiet line at 0."""
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
