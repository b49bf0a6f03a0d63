"""The tasks of a category, a panel each, all models in every panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import TaskPanel, known
from lm_eval_ita.report.figures.key import Dot, Key
from lm_eval_ita.report.figures.marks import CHANCE, MAJORITY, dot, interval, reference, span
from lm_eval_ita.report.figures.sheet import Panel, Plan, sheet
from lm_eval_ita.report.figures.text import number
from lm_eval_ita.report.figures.theme import ACCENT, Look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["category"]

_LOOK = Look(ACCENT, "o")


@styled()
def category(panels: Sequence[TaskPanel], title: str) -> Figure:
    """Dots with 95% intervals on an axis from 0 to 100, further where a value lies beyond.

    Args:
        panels: One for each task. A model that a panel lacks is a gap in it.
        title: Above the figure.

    Raises:
        ValueError: No panels, or no models.
    """
    models = list(dict.fromkeys(entry.model for panel in panels for entry in panel.entries))
    heads = [Panel(panel.task, _subtitle(panel)) for panel in panels]
    made = sheet(Plan(title, models, heads, xlabel="score × 100", row=0.175, key=_key(panels)))
    for position, (panel, axes) in enumerate(zip(panels, made.panels, strict=True)):
        _axis(axes, panel)
        entries = {entry.model: entry for entry in panel.entries}
        for y, model in enumerate(models):
            entry = entries.get(model)
            value = None if entry is None else known(entry.value)
            if entry is not None and value is not None:
                interval(axes, entry.low, entry.high, y, _LOOK.colour)
                dot(axes, value, y, _LOOK, hollow=not entry.comparable, size=3.6)
            made.beside(position, y, number(value), muted=value is None or (entry is not None and not entry.comparable))
    return made.figure


def _subtitle(panel: TaskPanel) -> str:
    return panel.metric if panel.n is None else f"{panel.metric}, n = {panel.n:,}"


def _axis(axes: Axes, panel: TaskPanel) -> None:
    drawn = [number for entry in panel.entries for number in (entry.value, entry.low, entry.high)]
    low, high = span([*drawn, panel.chance, panel.majority])
    axes.set_xlim(low, high)
    axes.set_xticks([tick for tick in (-100, -75, -50, -25, 0, 25, 50, 75, 100) if low <= tick <= high])
    reference(axes, panel.chance, CHANCE)
    reference(axes, panel.majority, MAJORITY)


def _key(panels: Sequence[TaskPanel]) -> list[Key]:
    drawn = [entry for panel in panels for entry in panel.entries if known(entry.value) is not None]
    bars = any(known(entry.low) is not None and known(entry.high) is not None for entry in drawn)
    key: list[Key] = [Dot("score with 95% interval" if bars else "score", _LOOK, line=bars)]
    if any(not entry.comparable for entry in drawn):
        key.append(Dot("not comparable: not measured like the others", _LOOK, hollow=True))
    key += [CHANCE] if any(known(panel.chance) is not None for panel in panels) else []
    return [*key, MAJORITY] if any(known(panel.majority) is not None for panel in panels) else key
