"""What models answered in each association test, as shares of a bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_ita.report.figures.inputs import Outcomes, places
from lm_eval_ita.report.figures.key import Box, Key
from lm_eval_ita.report.figures.sheet import Panel, Plan, sheet
from lm_eval_ita.report.figures.text import text_width
from lm_eval_ita.report.figures.theme import OUTCOMES, SMALL, ink_on, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["outcome_rates"]

_NAMES = ("attribute 1", "attribute 2", "neutral", "error")
_HATCH = "#FFFFFF"


@styled()
def outcome_rates(rows: Sequence[Outcomes], title: str) -> Figure:
    """A panel for each model, a bar of four shares for each test; a bar with a missing share is left out.

    Args:
        rows: Each test of each model, once.
        title: Above the figure.

    Raises:
        ValueError: No rows, or a test twice for one model.
    """
    tests, models, by_place = places(rows)
    key: list[Key] = [Box(name, colour, hatch, _HATCH) for name, (colour, hatch) in zip(_NAMES, OUTCOMES, strict=True)]
    plan = Plan(
        title, tests, [Panel(model) for model in models], xlabel="share of answers (%)", row=0.19, right=0.2, key=key
    )
    made = sheet(plan)
    for position, (model, axes) in enumerate(zip(models, made.panels, strict=True)):
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100"])
        axes.grid(visible=False)
        for y, test in enumerate(tests):
            row = by_place.get((model, test))
            shares = None if row is None else row.shares()
            if shares is None:
                made.beside(position, y, "–", muted=True)
            else:
                _bar(axes, y, shares, axes.get_position().width * made.figure.get_figwidth())
    return made.figure


def _bar(axes: Axes, y: int, shares: tuple[float, ...], inches: float) -> None:
    """One bar; a share's number stands in it where there is room on an axis of so many inches."""
    from matplotlib.patches import Rectangle

    start = 0.0
    for share, (colour, hatch) in zip(shares, OUTCOMES, strict=True):
        if share > 0:
            # add_artist, unlike barh, does not look for the axes' limits anew at every share.
            axes.add_artist(
                Rectangle(
                    (start, y - 0.36),
                    share,
                    0.72,
                    facecolor=colour,
                    hatch=hatch,
                    edgecolor=_HATCH,
                    linewidth=0,
                    clip_on=False,
                )
            )
        shown = f"{100 * share:.0f}"
        if share * inches > text_width(shown, SMALL - 1) + 0.07:
            axes.text(
                start + share / 2,
                y,
                shown,
                ha="center",
                va="center_baseline",
                fontsize=SMALL - 1,
                color=ink_on(colour),
                bbox={"boxstyle": "square,pad=0.12", "facecolor": colour, "edgecolor": "none"} if hatch else None,
            )
        start += share
