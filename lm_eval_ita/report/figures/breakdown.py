"""The parts of a task's data: functionalities, lexicon categories, phenomena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import Part, known
from lm_eval_ita.report.figures.key import Dot, Key, Rule
from lm_eval_ita.report.figures.marks import CHANCE, dot, reference, span, zero_line
from lm_eval_ita.report.figures.sheet import Panel, Plan, Sheet, sheet
from lm_eval_ita.report.figures.text import number
from lm_eval_ita.report.figures.theme import ACCENT, BAND, Look, model_look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["breakdown"]

# More markers in one row cannot be told apart: then every model has a panel, with the range of all behind it.
_TOGETHER = 6
_RANGE = Rule("range of all models", "#D3D3D3", "-", 4.0)
_ONE = Look(ACCENT, "o")


@styled()
def breakdown(
    parts: Sequence[Part],
    models: Sequence[str],
    title: str,
    xlabel: str,
    chance: float | None = None,
    whole: tuple[float, float] = (0.0, 100.0),
) -> Figure:
    """A row for each part with the number of its documents, a marker for each model.

    Args:
        parts: From top to bottom.
        models: Their names, in the order of the parts' values.
        title: Above the figure.
        xlabel: What the values are, with their unit.
        chance: What guessing scores; a dashed line.
        whole: The axis' limits: (0, 100) for percent, (-1, 1) for a correlation. Values beyond extend it.

    Raises:
        ValueError: No parts, no models, or a part without one value for each model.
    """
    if not models or any(len(part.values) != len(models) for part in parts):
        raise ValueError(f"every part of this figure needs a value, or None, for each of {len(models)} models")
    names = [part.label for part in parts]
    together = len(models) <= _TOGETHER
    key = _key(models, together, chance)
    gaps = any(known(value) is None for part in parts for value in part.values)
    notes = ["No marker: no value."] if gaps else []
    panels = [Panel()] if together else [Panel(model) for model in models]
    plan = Plan(
        title,
        names,
        panels,
        _counts(parts),
        xlabel,
        row=0.2 if together else 0.165,
        narrowest=1.1,
        right=0.06,
        key=key,
        notes=notes,
    )
    made = sheet(plan)
    limits = span((value for part in parts for value in part.values), whole)
    for axes in made.panels:
        _axis(axes, limits, chance)
    (_in_one_panel if together else _in_panels)(made, parts)
    return made.figure


def _counts(parts: Sequence[Part]) -> list[str]:
    """The column beside the names, its head first; empty where no number is known."""
    if all(part.n is None for part in parts):
        return []
    return ["n", *("–" if part.n is None else f"{part.n:,}" for part in parts)]


def _axis(axes: Axes, limits: tuple[float, float], chance: float | None) -> None:
    low, high = limits
    room = (high - low) / 40
    axes.set_xlim(low - room, high + room)
    ticks = [low + (high - low) * i / 4 for i in range(5)] if limits in ((0.0, 100.0), (-1.0, 1.0)) else None
    if ticks:
        axes.set_xticks(ticks, labels=[number(tick, 0 if high > 1 else 1) for tick in ticks])
    if low < 0:
        zero_line(axes)
    reference(axes, chance, CHANCE)


def _in_one_panel(made: Sheet, parts: Sequence[Part]) -> None:
    # Markers of a row stand a little apart: bands, not lines, hold them together.
    made.panels[0].grid(visible=False, axis="y")
    for y, part in enumerate(parts):
        if y % 2 == 0:
            made.panels[0].axhspan(y - 0.5, y + 0.5, color=BAND, linewidth=0, zorder=0)
        for i, value in enumerate(map(known, part.values)):
            if value is not None:
                dot(made.panels[0], value, y + _shift(i, len(part.values)), model_look(i), size=4.5)


def _in_panels(made: Sheet, parts: Sequence[Part]) -> None:
    for y, part in enumerate(parts):
        there = [value for value in map(known, part.values) if value is not None]
        for i, axes in enumerate(made.panels):
            if there:
                axes.plot([min(there), max(there)], [y, y], color=_RANGE.colour, linewidth=_RANGE.width, zorder=1.5)
            if (value := known(part.values[i])) is not None:
                dot(axes, value, y, _ONE, size=4.0)


def _shift(position: int, count: int) -> float:
    """Markers of one row a little apart, so that equal values do not hide each other."""
    return 0.0 if count == 1 else (position / (count - 1) - 0.5) * min(0.62, 0.2 * (count - 1))


def _key(models: Sequence[str], together: bool, chance: float | None) -> list[Key]:
    key: list[Key] = [Dot(model, model_look(i)) for i, model in enumerate(models)] if together else []
    key += [] if together else [Dot("the model", _ONE), _RANGE]
    return [*key, CHANCE] if known(chance) is not None else key
