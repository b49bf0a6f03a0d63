"""ItaP-AT's tables: all figures of each test for one model, scores side by side for several."""

from collections.abc import Sequence
from dataclasses import replace

from lm_eval_ita.results.grid import Grid, displayed
from lm_eval_ita.results.labels import table_label
from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.results.suite import Cell, Column, Row, SuiteTable, is_oneshot

__all__ = ["by_group", "itapat_grids", "signed"]

_LEGEND = (
    "Score: 1 is the stereotype, -1 its reverse, 0 no association. ** p < 0.05, * p < 0.10 (Fisher's exact test, each "
    "test alone). In brackets: the model was unable to do the test (over half errors, or one attribute only)."
)
_ONE = (
    "Score: 1 is the stereotype, -1 its reverse, 0 no association; the interval is a bootstrap over words. Attr. 1 to "
    "Error: shares of answers that choose the first attribute, the second, neither, or cannot be read. p: Fisher's "
    "exact test; Holm: adjusted over the tests shown. unable: over half errors, or one attribute only."
)


def itapat_grids(table: SuiteTable) -> list[Grid]:
    """The suite for people."""
    if len(table.rows) == 1:
        return [_one_model(table.columns, table.rows[0])]
    groups = by_group(table.columns).items()
    made = [_group(table.rows, oneshot, category, columns) for (oneshot, category), columns in groups]
    last = made.pop()
    reasons = {why: None for row in table.rows for cell in row.cells.values() for why in cell.why_not}
    notes = [_LEGEND, *(f"+ not comparable: {displayed(why, 200)}" for why in reasons)]
    notes += dict.fromkeys(f"† not comparable: {row.caveat}." for row in table.rows if row.caveat)
    return [*made, replace(last, notes=tuple(notes))]


def by_group(columns: Sequence[Column]) -> dict[tuple[bool, str], list[Column]]:
    """The columns of each table of the suite, by whether its prompts are one-shot ones, and subset."""
    groups: dict[tuple[bool, str], list[Column]] = {}
    for column in columns:
        groups.setdefault((is_oneshot(column.name), column.category), []).append(column)
    return groups


def _group(rows: tuple[Row, ...], oneshot: bool, category: str, columns: list[Column]) -> Grid:
    title = f"ItaP-AT, {category}{', one-shot anti-stereotypical prompts' if oneshot else ''}"
    header = ("Model", *(column.name.removeprefix("oneshot_").split("_", 1)[-1] for column in columns), "mean |s|")
    body = []
    for row in rows:
        cells = [row.cells.get(column.name) for column in columns]
        scores = [cell.score for cell in cells if cell is not None and cell.score is not None]
        whole = len(scores) == len(columns)
        mean = f"{sum(map(abs, scores)) / len(scores):.2f}" if whole else f"{len(scores)} of {len(columns)}"
        label = table_label(row.label, published=row.published)
        body.append((label, *(_cell(cell) for cell in cells), mean))
    return Grid(title, header, tuple(body), name=f"itapat_{'oneshot_' if oneshot else ''}{category}")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.score is None:
        return "n/a"
    score = f"{signed(cell.score)}{'*' * cell.stars}"
    return (f"({score})" if cell.unable else score) + (" +" if cell.why_not else "")


def _one_model(columns: tuple[Column, ...], row: Row) -> Grid:
    from lm_eval_ita.stats.multiplicity import holm  # NumPy, which the tables of many models do without

    found = [(column, row.cells[column.name]) for column in columns if column.name in row.cells]
    records = [cell.records[0] if cell.records else None for _, cell in found]
    p_values = [None if record is None else record.metrics.get("p_value") for record in records]
    adjusted = holm([float("nan") if p is None else p for p in p_values])
    rows = []
    for (column, cell), record, p, p_holm in zip(found, records, p_values, adjusted, strict=True):
        figures = _figures(record) if record else ("",) * 6
        title = displayed(record.title or "", 44) if record else ""
        note = " +" if cell.why_not else ""
        rows.append(
            (
                column.name,
                title,
                str(record.n_evaluated) if record else "",
                signed(cell.score) + note,
                *figures[:-1],
                "n/a" if p is None else f"{p:.3f}",
                "n/a" if p_holm != p_holm else f"{p_holm:.3f}",
                figures[-1],
            )
        )
    header = (
        "Test",
        "X / Y",
        "n",
        "Score",
        "95% interval",
        "Attr. 1",
        "Attr. 2",
        "Neutral",
        "Error",
        "p",
        "Holm",
        "Reading",
    )
    reasons = {why: None for _, cell in found for why in cell.why_not}
    notes = (_ONE, *(f"+ not comparable: {displayed(why, 200)}" for why in reasons))
    return Grid(f"ItaP-AT: {displayed(row.label, 60)}", header, tuple(rows), notes, left=2, name="itapat")


def _figures(record: TaskRecord) -> tuple[str, ...]:
    low, high = (record.metrics.get(f"bias_score_ci_{end}") for end in ("low", "high"))
    rates = (record.metrics.get(f"prob_{outcome}") for outcome in ("attribute_1", "attribute_2", "neutral", "error"))
    return (
        "n/a" if low is None or high is None else f"{signed(low)} {signed(high)}",
        *("n/a" if rate is None else f"{rate:.2f}" for rate in rates),
        displayed(record.reading or "n/a", 16),
    )


def signed(value: float | None) -> str:
    """A bias score with its sign, to two decimals; "n/a" where it is missing."""
    # Rounded first: -0.001 is not "-0.00".
    return "n/a" if value is None else f"{round(value, 2) + 0.0:+.2f}"
