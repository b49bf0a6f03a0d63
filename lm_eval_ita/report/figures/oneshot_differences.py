"""What one-shot anti-stereotypical prompts change: both bias scores of each test, and the way between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import OneShot, known, places
from lm_eval_ita.report.figures.key import Dot, Key, Rule
from lm_eval_ita.report.figures.marks import dot, zero_line
from lm_eval_ita.report.figures.sheet import Panel, Plan, sheet
from lm_eval_ita.report.figures.text import signed, text_width
from lm_eval_ita.report.figures.theme import COLOURS, GREY, INK, SMALL, Look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["oneshot_differences"]

_STANDARD, _ONESHOT = Look(INK, "o"), Look(INK, "D")
_SMALLER = Rule("|s| smaller", COLOURS[0], "-", 2.2)
_LARGER = Rule("|s| larger", COLOURS[1], (0, (1.6, 0.8)), 2.2)
_SAME = Rule("|s| the same", GREY, "-", 2.2)
_NOTE = (
    "s: the bias score; 1 is the stereotype, −1 its reverse, 0 no association. Right: standard − one-shot{}. Only a "
    "drop in |s| is a reduction of bias."
)


@styled()
def oneshot_differences(rows: Sequence[OneShot], title: str) -> Figure:
    """A panel for each model, a pair of joined markers for each test; the difference beside it.

    A score that is missing has no marker, and its pair neither line nor difference.

    Args:
        rows: Each test of each model, once.
        title: Above the figure.

    Raises:
        ValueError: No rows, or a test twice for one model.
    """
    tests, models, by_place = places(rows)
    beside = {place: _difference(row) for place, row in by_place.items()}
    right = 0.12 + max((text_width(text, SMALL) for text in beside.values()), default=0)
    changes = {_change(row) for row in rows}
    key: list[Key] = [Dot("standard prompt", _STANDARD), Dot("one-shot prompt", _ONESHOT, hollow=True)]
    key += [rule for rule in (_SMALLER, _LARGER, _SAME) if rule in changes]
    note = _NOTE.format(", with 95% interval" if any("[" in text for text in beside.values()) else "")
    panels = [Panel(model) for model in models]
    end = _end(rows)
    made = sheet(Plan(title, tests, panels, xlabel="bias score s", row=0.19, right=right, key=key, notes=[note]))
    for position, (model, axes) in enumerate(zip(models, made.panels, strict=True)):
        axes.set_xlim(-end, end)
        axes.set_xticks(
            [i * end / 2 for i in range(-2, 3)], labels=[f"{i * end / 2:g}".replace("-", "−") for i in range(-2, 3)]
        )
        zero_line(axes)
        for y, test in enumerate(tests):
            if (row := by_place.get((model, test))) is not None:
                _pair(axes, row, y)
            made.beside(position, y, beside.get((model, test), "–"))
    return made.figure


def _end(rows: Sequence[OneShot]) -> float:
    """Where the axis ends on both sides of 0."""
    there = [abs(score) for row in rows for score in map(known, (row.standard, row.oneshot)) if score is not None]
    return next(end for end in (0.4, 0.6, 0.8, 1.0) if max(there, default=1.0) <= end)


def _pair(axes: Axes, row: OneShot, y: int) -> None:
    standard, oneshot = known(row.standard), known(row.oneshot)
    if standard is not None and oneshot is not None and (rule := _change(row)) is not None:
        axes.plot([standard, oneshot], [y, y], color=rule.colour, linestyle=rule.style, linewidth=rule.width, zorder=3)
    # The hollow marker lies on top: both show where the scores are equal.
    if standard is not None:
        dot(axes, standard, y, _STANDARD, size=4.0)
    if oneshot is not None:
        dot(axes, oneshot, y, _ONESHOT, hollow=True, size=3.6)


def _change(row: OneShot) -> Rule | None:
    """How the scores are joined; not at all where one is missing or they are equal."""
    standard, oneshot = known(row.standard), known(row.oneshot)
    if standard is None or oneshot is None or standard == oneshot:
        return None
    if abs(oneshot) == abs(standard):
        return _SAME
    return _SMALLER if abs(oneshot) < abs(standard) else _LARGER


def _difference(row: OneShot) -> str:
    standard, oneshot, low, high = map(known, (row.standard, row.oneshot, row.low, row.high))
    if standard is None or oneshot is None:
        return "–"
    difference = signed(standard - oneshot)
    return difference if low is None or high is None else f"{difference} [{signed(low)}, {signed(high)}]"
