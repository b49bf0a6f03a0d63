"""A radar: a few models' profiles over categories or tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import RadarModel, known
from lm_eval_ita.report.figures.key import Dot, Key
from lm_eval_ita.report.figures.marks import span
from lm_eval_ita.report.figures.sheet import place, titled_figure
from lm_eval_ita.report.figures.text import told_apart, wrapped
from lm_eval_ita.report.figures.theme import GREY, MUTED, RULE, SMALL, TEXT, model_look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST_MODELS", "radar"]

MOST_MODELS = 6
_WIDTH, _RADIUS, _LABEL = 5.4, 1.6, 1.0  # inches
_LABEL_LINE, _ABOVE = 0.13, 0.45


@styled()
def radar(models: Sequence[RadarModel], axes: Sequence[str], title: str) -> Figure:
    """One closed line for each model; it is broken where a value is missing.

    Args:
        models: At most six: more lines cannot be told apart.
        axes: The names of at least three axes, clockwise from the top. Each runs from 0 to 100; from the next lower ten
            where a value is negative.
        title: Above the figure.

    Raises:
        ValueError: Under three axes, no or over six models, or a model with another number of values.
    """
    if len(axes) < 3:
        raise ValueError(f"a radar needs at least 3 axes, not {len(axes)}")
    if not 1 <= len(models) <= MOST_MODELS:
        raise ValueError(f"a radar shows 1 to {MOST_MODELS} models, not {len(models)}")
    if any(len(model.values) != len(axes) for model in models):
        raise ValueError(f"every model of this radar needs {len(axes)} values")
    low, high = span(value for model in models for value in model.values)
    key: list[Key] = [Dot(model.label, model_look(i), line=True) for i, model in enumerate(models)]
    gaps = any(known(value) is None for model in models for value in model.values)
    notes = ["A line is broken where the model has no value."] if gaps else []
    # The lowest corner is as low as the radius only where the number of axes is even.
    bottom = -min(_at(i, len(axes), 1)[1] for i in range(len(axes)))
    height = (1 + bottom) * _RADIUS + 2 * _ABOVE
    figure, top = titled_figure(title, _WIDTH, height, key, notes)
    ground = place(figure, 0, top, _WIDTH, height)
    ground.set_axis_off()
    # One unit is the radius.
    ground.set_xlim(-_WIDTH / 2 / _RADIUS, _WIDTH / 2 / _RADIUS)
    ground.set_ylim(-bottom - _ABOVE / _RADIUS, 1 + _ABOVE / _RADIUS)
    _web(ground, len(axes), low, high)
    _names(ground, axes)
    for i, model in enumerate(models):
        _profile(ground, model, i, low, high)
    return figure


def _at(position: int, count: int, radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * position / count
    return radius * math.sin(angle), radius * math.cos(angle)


def _web(ground: Axes, count: int, low: float, high: float) -> None:
    ticks = [tick for tick in range(-100, 201, 20) if low < tick <= high]
    for tick in ticks:
        radius = (tick - low) / (high - low)
        corners = [_at(i % count, count, radius) for i in range(count + 1)]
        strong = tick in (0, high)
        ground.plot(*zip(*corners, strict=True), color=GREY if strong else RULE, linewidth=0.7, zorder=1)
        ground.text(
            0.02,
            radius,
            f"{tick}".replace("-", "−"),
            fontsize=SMALL - 1,
            color=MUTED,
            va="center_baseline",
            zorder=2,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "#FFFFFF", "edgecolor": "none", "alpha": 0.75},
        )
    for i in range(count):
        ground.plot(*zip((0, 0), _at(i, count, 1), strict=True), color=RULE, linewidth=0.7, zorder=1)


def _names(ground: Axes, axes: Sequence[str]) -> None:
    for i, name in enumerate(told_apart(axes, 2.5 * _LABEL, TEXT)):
        x, y = _at(i, len(axes), 1 + 0.13 / _RADIUS)
        lines = wrapped(name, _LABEL, TEXT, lines=3)
        side = "center" if abs(x) < 0.05 else "left" if x > 0 else "right"
        # The block of lines stands away from the web: above it at the top, below it at the bottom.
        first = y + (len(lines) - 1) / 2 * _LABEL_LINE / _RADIUS
        if abs(x) < 0.05:
            first = y + ((len(lines) - 1) * _LABEL_LINE if y > 0 else 0) / _RADIUS
        for step, line in enumerate(lines):
            at = first - step * _LABEL_LINE / _RADIUS
            ground.text(x, at, line, ha=side, va="center", fontsize=TEXT)


def _profile(ground: Axes, model: RadarModel, position: int, low: float, high: float) -> None:
    look, count = model_look(position), len(model.values)
    corners = []
    for i, value in enumerate(map(known, model.values)):
        corners.append((math.nan, math.nan) if value is None else _at(i, count, (value - low) / (high - low)))
    xs, ys = zip(*corners, corners[0], strict=True)
    # White edges keep markers apart where profiles meet.
    ground.plot(
        xs,
        ys,
        color=look.colour,
        linewidth=1.4,
        marker=look.marker,
        markersize=5,
        markeredgecolor="#FFFFFF",
        markeredgewidth=0.5,
        zorder=3 + position / 10,
    )
