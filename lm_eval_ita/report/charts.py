"""Which figures a report has, and what goes into each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_ita.report import figures
from lm_eval_ita.report.breakdowns import Breakdown
from lm_eval_ita.report.content import Content, Suited
from lm_eval_ita.report.tables import is_ranked
from lm_eval_ita.results.suite import CATEGORIES, Cell, Column, Row, is_oneshot
from lm_eval_ita.results.summary import CATEGORY_NAMES, SHORT
from lm_eval_ita.results.table9 import one_shot_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Chart", "breakdown_chart", "itaeval_charts", "itapat_charts"]

# Radars of more models, or of fewer tasks, cannot be read.
_RADAR_MODELS, _RADAR_AXES = 6, 3
_NOT_ALONE = "Hollow: limited runs, other versions of a task, and printed figures (†): not comparable with the rest."


@dataclass(frozen=True)
class Chart:
    """One figure.

    Attributes:
        name: Short, for files and ids.
        caption: What it shows and how to read it.
        figure: As matplotlib has it.
    """

    name: str
    caption: str
    figure: Figure


def itaeval_charts(suited: Suited) -> Iterator[Chart]:
    """Ranking, a figure for each category, a radar; those that the runs have something for."""
    table = suited.table
    prefix = table.suite
    ranked = [_ranked(suited, i) for i, row in enumerate(table.rows) if is_ranked(row)]
    if len(ranked) > 1:
        title = "Models by average (AVG)"
        caption = (
            "Mean of the three category means, with a 95% interval where samples were logged. Models that share a "
            "letter are not told apart."
        )
        yield Chart(f"{prefix}_ranking", caption, figures.ranking(ranked, title, "AVG × 100"))
    for category in CATEGORIES:
        columns = [column for column in table.columns if column.category == category]
        own = [i for i, row in enumerate(table.rows) if any(_shown(row, column) is not None for column in columns)]
        panels = [panel for column in columns for panel in _panel(suited, column, own)]
        if panels:
            title = CATEGORY_NAMES[category]
            caption = f"{title}: scores × 100 with 95% intervals, guessing and the commonest answer. {_NOT_ALONE}"
            yield Chart(f"{prefix}_{category}", caption, figures.category(panels, title))
    yield from _radar(suited)


def _ranked(suited: Suited, i: int) -> figures.Ranked:
    row, estimate = suited.table.rows[i], suited.estimates.averages[i]
    value, low, high = (_percent(figure) for figure in (estimate.value, estimate.low, estimate.high))
    return figures.Ranked(row.label, value, low, high, estimate.letters, row.published)


def _shown(row: Row, column: Column) -> float | None:
    """The score to draw; none for a printed figure that is known to be wrong."""
    cell = row.cells.get(column.name)
    return None if cell is None or (row.published and cell.why_not) else cell.score


def _panel(suited: Suited, column: Column, rows: Sequence[int]) -> list[figures.TaskPanel]:
    """The panel of one task over these rows of the table; none where no model has it."""
    table = suited.table
    cells = {i: table.rows[i].cells.get(column.name) for i in rows}
    if all(_shown(table.rows[i], column) is None for i in rows):
        return []
    entries = [_entry(suited, column, i) for i in rows]
    records = [record for cell in cells.values() if cell is not None for record in cell.records]
    # Printed figures are of other counts, or of unknown ones.
    printed = any(cell is not None and not cell.records for cell in cells.values())
    counts = {None} if printed else {record.n_evaluated for record in records}
    chance = column.chance if not records else records[0].baseline("chance")
    return [
        figures.TaskPanel(
            task=SHORT.get(column.name, column.name),
            metric=column.metric,
            n=counts.pop() if len(counts) == 1 else None,
            entries=tuple(entries),
            chance=_percent(chance),
            majority=_percent(records[0].baseline("majority")) if records else None,
        )
    ]


def _entry(suited: Suited, column: Column, i: int) -> figures.Entry:
    row = suited.table.rows[i]
    cell, estimate = row.cells.get(column.name), suited.estimates.cells.get((i, column.name))
    return figures.Entry(
        _label(row),
        _percent(_shown(row, column)),
        None if estimate is None else _percent(estimate.low),
        None if estimate is None else _percent(estimate.high),
        comparable=cell is None or (not cell.why_not and row.caveat is None),
    )


def _radar(suited: Suited) -> Iterator[Chart]:
    rows = suited.table.rows
    if not 2 <= len(rows) <= _RADAR_MODELS:
        return
    # Only tasks that every model has: a gap in a radar reads as a low value.
    shared = [column for column in suited.table.columns if all(_shown(row, column) is not None for row in rows)]
    if len(shared) < _RADAR_AXES:
        return
    profiles = [
        figures.RadarModel(row.label, tuple(_percent(_shown(row, column)) for column in shared)) for row in rows
    ]
    axes = [SHORT.get(column.name, column.name) for column in shared]
    caption = f"The {len(shared)} tasks that all models have, scores × 100. Read distances along one axis only."
    yield Chart(f"{suited.table.suite}_radar", caption, figures.radar(profiles, axes, "Profiles over shared tasks"))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def itapat_charts(suited: Suited, content: Content) -> Iterator[Chart]:
    """Heat map, rates of outcomes, and what one-shot prompts change."""
    table = suited.table
    for oneshot in (False, True):
        columns = [column for column in table.columns if is_oneshot(column.name) == oneshot]
        if not columns:
            continue
        kind, suffix = (", one-shot prompts", "_oneshot") if oneshot else ("", "")
        models = [row for row in table.rows if any(column.name in row.cells for column in columns)]
        rows = [_bias_row(column, models) for column in columns]
        caption = (
            "Bias score of each test: 1 is the stereotype, -1 its reverse, 0 no association. ** p < 0.05, * p < 0.10 "
            "(Fisher's exact test, each test alone). Hatched, in brackets: the model was unable to do the test."
        )
        labels = [_label(row) for row in models]
        yield Chart(f"itapat_scores{suffix}", caption, figures.bias_heatmap(rows, labels, f"ItaP-AT bias scores{kind}"))
        outcomes = [outcome for row in models for column in columns for outcome in _outcomes(row, column)]
        if outcomes:
            caption = (
                "What the models answered: attribute 1 and 2 are the two that a question offers. "
                "A bias score says little where most answers are errors."
            )
            yield Chart(
                f"itapat_rates{suffix}", caption, figures.outcome_rates(outcomes, f"ItaP-AT answers by kind{kind}")
            )
    yield from _oneshot(content)


def _label(row: Row) -> str:
    return row.label + (" †" if row.published else "")


def _test(column: Column) -> str:
    return column.name.removeprefix("oneshot_").replace("_", " ")


def _bias_row(column: Column, rows: Sequence[Row]) -> figures.BiasRow:
    cells = tuple(_bias_cell(row.cells.get(column.name)) for row in rows)
    return figures.BiasRow(_test(column), cells, column.category)


def _bias_cell(cell: Cell | None) -> figures.BiasCell:
    if cell is None or cell.score is None or not -1 <= cell.score <= 1:
        return figures.BiasCell(None)
    return figures.BiasCell(cell.score, cell.stars, cell.unable)


def _outcomes(row: Row, column: Column) -> list[figures.Outcomes]:
    cell = row.cells.get(column.name)
    if cell is None:
        return []
    try:
        return [figures.Outcomes(_test(column), _label(row), *cell.rates)]
    except ValueError:
        return [figures.Outcomes(_test(column), _label(row), None, None, None, None)]  # no shares of one whole


def _oneshot(content: Content) -> Iterator[Chart]:
    drawn = []
    for model in dict.fromkeys(task.model for task in content.tasks("itapat")):
        own = {task.record.task: task.record for task in content.tasks("itapat") if task.model == model}
        for row in one_shot_rows(own, resamples=2_000):
            test = row.test.replace("_", " ")
            drawn.append(figures.OneShot(test, row.standard, row.oneshot, row.low, row.high, model))
    if drawn:
        caption = (
            "Bias scores with standard and with one-shot anti-stereotypical prompts (the paper's Table 9). "
            "Only a score nearer to 0 is a reduction of bias."
        )
        title = "What one-shot prompts change"
        yield Chart("itapat_oneshot_differences", caption, figures.oneshot_differences(drawn, title))


def breakdown_chart(breakdown: Breakdown) -> Chart:
    """The figure of one breakdown."""
    scale = 1 if breakdown.is_signed else 100
    parts = [
        figures.Part(item.name, item.n, tuple(None if value is None else scale * value for value in item.values))
        for item in breakdown.items
    ]
    unit = breakdown.measure if breakdown.is_signed else f"{breakdown.measure} (%)"
    whole = (-1.0, 1.0) if breakdown.is_signed else (0.0, 100.0)
    chance = None if breakdown.chance is None else scale * breakdown.chance
    drawn = figures.breakdown(parts, breakdown.models, breakdown.title, unit, chance, whole)
    caption = " ".join((f"{breakdown.title}: {breakdown.measure}.", *breakdown.notes))
    return Chart(breakdown.name, caption, drawn)
