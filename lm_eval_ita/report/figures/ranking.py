"""A ranking: each model's value with its interval, best first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import Ranked, known
from lm_eval_ita.report.figures.key import Dot, Key
from lm_eval_ita.report.figures.marks import CHANCE, dot, interval, reference
from lm_eval_ita.report.figures.sheet import Panel, Plan, sheet
from lm_eval_ita.report.figures.text import fitted, number, text_width
from lm_eval_ita.report.figures.theme import ACCENT, INK, SMALL, Look, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ranking"]

_MEASURED, _PUBLISHED = Look(ACCENT, "o"), Look(INK, "o")
_VALUE = 0.48  # inches: where the letters begin
_LETTERS_AT_MOST = 1.2


@styled()
def ranking(rows: Sequence[Ranked], title: str, xlabel: str, chance: float | None = None) -> Figure:
    """Dots with 95% intervals, best first and missing values last, tie-group letters at the right.

    Args:
        rows: The models, in any order; equal values keep their order.
        title: Above the figure.
        xlabel: What the values are, with their unit.
        chance: What guessing scores; a dashed line.

    Raises:
        ValueError: No rows.
    """
    ordered = sorted(rows, key=_worst_last)
    letters = [fitted(row.group, _LETTERS_AT_MOST, SMALL) for row in ordered]
    right = _VALUE + max((text_width(text, SMALL) for text in letters), default=0)
    notes = ["Models that share a letter do not differ significantly."] if any(letters) else []
    plan = Plan(
        title,
        [row.label for row in ordered],
        [Panel()],
        xlabel=xlabel,
        row=0.2,
        right=right,
        key=_key(rows, chance),
        notes=notes,
    )
    made = sheet(plan)
    axes = made.panels[0]
    axes.set_xlim(*_limits(ordered, chance))
    reference(axes, chance, CHANCE)
    for y, (row, group) in enumerate(zip(ordered, letters, strict=True)):
        look, value = _PUBLISHED if row.published else _MEASURED, known(row.value)
        if value is not None:
            interval(axes, row.low, row.high, y, look.colour)
            dot(axes, value, y, look, hollow=row.published)
        made.beside(0, y, number(value), muted=value is None)
        made.beside(0, y, group, inches=_VALUE)
    return made.figure


def _worst_last(row: Ranked) -> float:
    value = known(row.value)
    return math.inf if value is None else -value


def _key(rows: Sequence[Ranked], chance: float | None) -> list[Key]:
    key: list[Key] = []
    if any(not row.published for row in rows):
        bars = any(known(row.low) is not None and known(row.high) is not None for row in rows)
        key.append(Dot("measured, with 95% interval" if bars else "measured", _MEASURED, line=bars))
    if any(row.published for row in rows):
        key.append(Dot("published", _PUBLISHED, hollow=True))
    return [*key, CHANCE] if known(chance) is not None else key


def _limits(rows: Sequence[Ranked], chance: float | None) -> tuple[float, float]:
    """All that is drawn and a little room: dots, unlike bars, need no zero."""
    numbers = [known(chance), *(known(value) for row in rows for value in (row.value, row.low, row.high))]
    there = [value for value in numbers if value is not None] or [0.0, 100.0]
    low, high = min(there), max(there)
    room = max(0.05 * (high - low), 0.5)
    return low - room, high + room
