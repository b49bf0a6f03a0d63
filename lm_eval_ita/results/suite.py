"""The tables of the suites: category means, averages, what is comparable, ranks. Pure.

A mean is there only when every task of it is there: models are never compared over different tasks. What is missing
comes last and has no rank. ItaP-AT is a suite of its own: a bias score is not better when it is higher, so it is
neither averaged with anything nor ranked.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lm_eval_ita.results.comparable import not_comparable
from lm_eval_ita.results.instructions import InstructionFigures, Rates, answer_rates, instruction_figures, stars
from lm_eval_ita.results.labels import model_labels
from lm_eval_ita.results.records import ModelIdentity, RunRecord, Suite, TaskRecord
from lm_eval_ita.results.reference import Reference
from lm_eval_ita.results.wordings import Wordings, wordings_of

__all__ = [
    "CATEGORIES",
    "UNAVERAGED",
    "Cell",
    "Column",
    "Mean",
    "Row",
    "SuiteTable",
    "columns_of",
    "is_oneshot",
    "measured_row",
    "ranks",
    "suite_tables",
    "with_means",
]

CATEGORIES = ("nlu", "cfk", "bfs")
_SUITES: tuple[Suite, ...] = ("itaeval", "itaeval_chat", "itaeval_v1", "itaeval_extra", "itaeval_prompts", "itapat")
# Their tasks are ranked one by one, and no mean is made of them.
UNAVERAGED: tuple[Suite, ...] = ("itaeval_extra", "itaeval_prompts")


@dataclass(frozen=True)
class Column:
    """One column of a suite's table.

    Attributes:
        name: Short name, the same for a task and its published configuration ("xcopa").
        category: Group within the suite.
        tasks: The tasks whose scores are averaged in it: one, but for news summarisation in its published form.
        metric: The metric behind the score.
        chance: What guessing scores.
    """

    name: str
    category: str
    tasks: tuple[str, ...]
    metric: str
    chance: float | None = None


@dataclass(frozen=True)
class Cell:
    """One figure.

    Attributes:
        score: ItaEval: higher is better, at most 1. ItaP-AT: the bias score, -1 to 1. None where it is missing.
        why_not: Why it is not comparable with other models' figures; empty where it is.
        rank: Among the comparable figures of its column, from 1; None where not comparable or missing.
        records: What it was made from; empty for published figures.
        source: For published figures, the table that it was printed in.
        stars: ItaP-AT: 1 for p < 0.10, 2 for p < 0.05 (Fisher's exact test), as in the paper.
        unable: ItaP-AT: whether the model could not do the test, so that its score says nothing.
        rates: ItaP-AT: shares of attribute_1, attribute_2, neutral, error, each 0 to 1; None where missing.
        instructions: ItaP-AT: the figures of each instruction; empty where they are not known.
        wordings: The figures of each prompt, of a task with several; None for the others.
    """

    score: float | None
    why_not: tuple[str, ...] = ()
    rank: int | None = None
    records: tuple[TaskRecord, ...] = ()
    source: str | None = None
    stars: int = 0
    unable: bool = False
    rates: Rates = (None, None, None, None)
    instructions: tuple[InstructionFigures, ...] = ()
    wordings: Wordings | None = None


@dataclass(frozen=True)
class Mean:
    """A mean that is there only when all of its parts are.

    Attributes:
        value: None where a part is missing.
        k, n: How many parts there are, of how many.
        rank: Among the comparable means, from 1.
        why_not: For a published mean, its known defect.
    """

    value: float | None
    k: int
    n: int
    rank: int | None = None
    why_not: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One model.

    Attributes:
        label: Its name, with whatever tells it from another row of that name.
        model: Which model, exactly.
        cells: By column name; a column without a figure is left out.
        means: By category.
        average: Of the category means; None for ItaP-AT.
        published: Whether the figures are printed ones.
        caveat: Why none of the row's figures is comparable in this table; None where some are.
    """

    label: str
    model: ModelIdentity
    cells: dict[str, Cell]
    means: dict[str, Mean] = field(default_factory=dict)
    average: Mean | None = None
    published: bool = False
    caveat: str | None = None

    @property
    def why_not(self) -> tuple[str, ...]:
        """Every reason why a figure of this row is not comparable, each with its columns."""
        whole = () if self.caveat is None else (self.caveat,)
        reasons: dict[str, list[str]] = {}
        for name, cell in self.cells.items():
            for why in cell.why_not:
                reasons.setdefault(why, []).append(name)
        return (*whole, *(f"{why}: {', '.join(names)}" for why, names in reasons.items()))


@dataclass(frozen=True)
class SuiteTable:
    """One suite's figures for all models.

    Attributes:
        suite: Which suite.
        columns: In the suite's order; for ItaP-AT only those with a figure.
        rows: Ranked rows first, then those with more of the suite, published ones among them.
    """

    suite: Suite
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def sample(self) -> bool:
        """Whether a figure comes from sample rows."""
        return any(
            record.data == "sample" for row in self.rows for cell in row.cells.values() for record in cell.records
        )


def columns_of(suite: Suite, references: Mapping[str, Reference]) -> tuple[Column, ...]:
    """The columns of a suite, in its order."""
    groups: dict[str, list[Reference]] = {}
    for reference in references.values():
        if reference.suite == suite:
            groups.setdefault(_short(reference.task), []).append(reference)
    found = [
        Column(name, parts[0].category, tuple(part.task for part in parts), parts[0].metric, parts[0].chance)
        for name, parts in groups.items()
    ]
    order = ("base", "race", "gender", "age") if suite == "itapat" else CATEGORIES
    return tuple(sorted(found, key=lambda column: (is_oneshot(column.name), order.index(column.category))))


def is_oneshot(column: str) -> bool:
    """Whether a column of ItaP-AT holds the figures of one-shot prompts."""
    return column.startswith("oneshot_")


def _short(task: str) -> str:
    prefixes = ("itaeval_chat_", "itaeval_v1_", "itaeval_extra_", "itaeval_prompts_", "itaeval_", "itapat_")
    name = task.removeprefix(next((prefix for prefix in prefixes if task.startswith(prefix)), ""))
    # Two tasks in the published configuration, one column in the paper's table.
    return "news_sum" if name.startswith("news_sum_") else name


def suite_tables(
    runs: Sequence[RunRecord],
    references: Mapping[str, Reference],
    published: Mapping[Suite, Sequence[Row]] | None = None,
) -> tuple[SuiteTable, ...]:
    """The tables of all suites that the runs hold something of.

    Args:
        runs: As `collect` returns them; runs of one model are one row.
        references: The suites as they are installed.
        published: Rows of published figures to show beside them.

    Returns:
        A table for each suite with a figure, in the order ItaEval, the same from generated answers, its published
        configuration, tasks beside it, several wordings, ItaP-AT.
    """
    tables = []
    for suite in _SUITES:
        columns = columns_of(suite, references)
        rows = [*_measured(suite, runs, columns, references), *(published or {}).get(suite, ())]
        if any(not row.published for row in rows) or (rows and not runs):
            tables.append(_table(suite, columns, rows))
    return tuple(tables)


def _measured(
    suite: Suite, runs: Sequence[RunRecord], columns: Sequence[Column], references: Mapping[str, Reference]
) -> list[Row]:
    models: dict[tuple[str | None, ...], tuple[ModelIdentity, dict[str, TaskRecord]]] = {}
    for run in runs:
        records = {record.task: record for record in run.tasks.values() if record.suite == suite}
        if records:
            models.setdefault(run.model.key, (run.model, {}))[1].update(records)
    labels = model_labels([model for model, _ in models.values()])
    rows = []
    for label, (model, records) in zip(labels, models.values(), strict=True):
        row = measured_row(label, model, records, columns, references)
        rows += [row] if row is not None else []
    return rows


def measured_row(
    label: str,
    model: ModelIdentity,
    records: Mapping[str, TaskRecord],
    columns: Sequence[Column],
    references: Mapping[str, Reference],
) -> Row | None:
    """One model's cells, without means and ranks; None where it has nothing of these columns.

    Args:
        label, model: Of the row.
        records: The model's tasks by the name under which they are compared.
        columns: Of the suite.
        references: The suites as they are installed.
    """
    found = {column.name: _cell(column, records, references) for column in columns}
    cells = {name: cell for name, cell in found.items() if cell is not None}
    return Row(label, model, cells) if cells else None


def _cell(column: Column, records: Mapping[str, TaskRecord], references: Mapping[str, Reference]) -> Cell | None:
    parts = [records[task] for task in column.tasks if task in records]
    if not parts:
        return None
    why = [reason for part in parts for reason in not_comparable(part, references.get(part.task))]
    values = [part.primary_value if part.suite == "itapat" else part.score for part in parts]
    if len(parts) < len(column.tasks):
        return Cell(None, (*dict.fromkeys(why), f"only {', '.join(part.name for part in parts)}"), records=tuple(parts))
    known = [value for value in values if value is not None]
    score = sum(known) / len(known) if len(known) == len(values) else None
    why_not = tuple(dict.fromkeys(why)) if why else ()
    cell = Cell(score, why_not, records=tuple(parts), wordings=wordings_of(parts[0]))
    return _association(cell, parts[0]) if parts[0].suite == "itapat" else cell


def _association(cell: Cell, record: TaskRecord) -> Cell:
    return replace(
        cell,
        stars=stars(record.metrics.get("p_value")),
        unable=record.reading == "unable",
        rates=answer_rates(record.metrics),
        instructions=instruction_figures(record),
    )


def _table(suite: Suite, columns: Sequence[Column], rows: Sequence[Row]) -> SuiteTable:
    if suite == "itapat":
        shown = tuple(column for column in columns if any(column.name in row.cells for row in rows))
        return SuiteTable(suite, shown, tuple(sorted(rows, key=lambda row: row.published)))
    complete = [row if row.published or suite in UNAVERAGED else with_means(row, columns) for row in rows]
    ranked = _with_wording_ranks(_with_ranks(complete, columns), columns)
    return SuiteTable(suite, tuple(columns), tuple(sorted(ranked, key=_position)))


def with_means(row: Row, columns: Sequence[Column]) -> Row:
    """The row with the means of its cells over these columns; a category without a column is left out."""
    means = {}
    for category in CATEGORIES:
        names = [column.name for column in columns if column.category == category]
        if not names:
            continue
        means[category] = _mean([row.cells[name].score if name in row.cells else None for name in names])
    k, n = sum(mean.k for mean in means.values()), sum(mean.n for mean in means.values())
    average = _mean([mean.value for mean in means.values()])
    return replace(row, means=means, average=Mean(average.value, k, n))


def _mean(values: Sequence[float | None]) -> Mean:
    known = [value for value in values if value is not None]
    complete = len(known) == len(values) > 0
    return Mean(sum(known) / len(known) if complete else None, len(known), len(values))


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """Ranks from 1, the highest value first; equal values share the better rank, and what is missing has none."""
    first: dict[float, int] = {}
    for position, value in enumerate(sorted((value for value in values if value is not None), reverse=True), start=1):
        first.setdefault(value, position)
    return [None if value is None else first[value] for value in values]


def _with_ranks(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    by_cell = {column.name: ranks([_comparable(row, column.name) for row in rows]) for column in columns}
    by_mean = {
        category: ranks([_rankable(row, row.means.get(category), _names(columns, category)) for row in rows])
        for category in CATEGORIES
    }
    by_average = ranks([_rankable(row, row.average, _names(columns)) for row in rows])
    return [
        replace(
            row,
            cells={name: _ranked(cell, by_cell[name][i]) for name, cell in row.cells.items()},
            means={name: replace(mean, rank=by_mean[name][i]) for name, mean in row.means.items()},
            average=None if row.average is None else replace(row.average, rank=by_average[i]),
        )
        for i, row in enumerate(rows)
    ]


def _with_wording_ranks(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows with the ranks that each wording alone would give, of what is comparable."""
    made = list(rows)
    for column in columns:
        own = {
            i: cell.wordings
            for i, row in enumerate(made)
            if (cell := row.cells.get(column.name)) is not None and cell.wordings is not None and cell.rank is not None
        }
        by_wording = [
            dict(zip(own, ranks(scores), strict=True))
            for scores in itertools.zip_longest(*(wordings.scores for wordings in own.values()))
        ]
        for i, wordings in own.items():
            ranked = replace(wordings, ranks=tuple(found[i] for found in by_wording))
            cells = {**made[i].cells, column.name: replace(made[i].cells[column.name], wordings=ranked)}
            made[i] = replace(made[i], cells=cells)
    return made


def _ranked(cell: Cell, rank: int | None) -> Cell:
    return cell if rank is None else replace(cell, rank=rank)


def _names(columns: Sequence[Column], category: str | None = None) -> list[str]:
    return [column.name for column in columns if category in (None, column.category)]


def _comparable(row: Row, name: str) -> float | None:
    cell = row.cells.get(name)
    return None if cell is None or cell.why_not or row.caveat else cell.score


def _rankable(row: Row, mean: Mean | None, names: Sequence[str]) -> float | None:
    if (
        mean is None
        or mean.why_not
        or row.caveat
        or any(row.cells[name].why_not for name in names if name in row.cells)
    ):
        return None
    return mean.value


def _position(row: Row) -> tuple[float, bool, float, float, str]:
    average = row.average
    rank = float("inf") if average is None or average.rank is None else average.rank
    # Without a rank: our own runs before printed ones, then by how much is there.
    value = average.value if average is not None and average.value is not None else float("-inf")
    return rank, row.published, -(average.k if average else 0), -value, row.label
