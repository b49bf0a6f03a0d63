"""The paper's tables from the suites' tables: as grids of texts, as CSV, as JSON."""

import csv
import io
import itertools
import string
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from lm_eval_ita.results.grid import Grid, displayed, with_sample_note
from lm_eval_ita.results.itapat_summary import itapat_grids
from lm_eval_ita.results.labels import table_label
from lm_eval_ita.results.suite import CATEGORIES, UNAVERAGED, Cell, Column, Mean, Row, SuiteTable
from lm_eval_ita.results.wordings import Wordings

__all__ = ["CATEGORY_NAMES", "SHORT", "TITLES", "as_csv", "as_json", "grids", "spreadsheet_text"]

# The paper's column heads.
SHORT = {
    "itacola": "ItaCoLA",
    "belebele": "Belebele",
    "news_sum": "News-Sum",
    "ironita_irony": "IronITA Iry",
    "ironita_sarcasm": "IronITA Sar",
    "sentipolc": "SENTIPOLC",
    "arc_challenge": "ARC C",
    "arc_easy": "ARC E",
    "mmmlu": "MMMLU",
    "truthfulqa_mc2": "TruthfulQA",
    "truthfulqa_mc1": "TruthfulQA",
    "squad_it": "SQuAD-it",
    "xcopa": "XCOPA-it",
    "hellaswag": "HellaSwag-it",
    "hatecheck": "MHC",
    "ami_aggressiveness": "AMI20 A",
    "ami_misogyny": "AMI20 M",
    "honest": "HONEST",
    "gente": "GeNTE",
    "haspeede2_hs": "HaSpD2 HS",
    "haspeede2_stereotype": "HaSpD2 S",
}
TITLES = {
    "itaeval": "ItaEval",
    "itaeval_chat": "ItaEval, generated answers (chat)",
    "itaeval_v1": "ItaEval, published configuration (v1)",
    "itaeval_extra": "ItaEval, tasks outside of the averages",
    "itaeval_prompts": "ItaEval, several prompts a task",
    "itapat": "ItaP-AT",
}
CATEGORY_NAMES = {
    "nlu": "Natural language understanding (NLU)",
    "cfk": "Commonsense and factual knowledge (CFK)",
    "bfs": "Bias, fairness and safety (BFS)",
}
# So many models still fit beside each other as columns.
_FEW = 3
# So many tasks with unread answers are named for each model.
_WORST = 5
_HONEST = " (HONEST: share of completions without a hurtful word)"
_LEGEND = "Scores x 100, higher is better{honest}. Chance: guessing. Majority: always the commonest answer."


def grids(table: SuiteTable) -> list[Grid]:
    """A suite's table for people: tasks as rows for a few models, else one table per category as in the paper."""
    return with_sample_note(itapat_grids(table) if table.suite == "itapat" else _itaeval_grids(table), table.sample)


def _itaeval_grids(table: SuiteTable) -> list[Grid]:
    marks = _Marks()
    if len(table.rows) <= _FEW:
        return [_by_task(table, marks)]
    there = [name for name in CATEGORIES if any(column.category == name for column in table.columns)]
    made = [_by_category(table, category, marks) for category in there]
    if table.suite not in UNAVERAGED:
        made.append(_averages(table, marks))
    # The marks of all tables are explained once, under the last.
    notes = (
        _legend(table),
        *_chat_notes(table),
        *_wording_notes(table),
        *_missing_note(table),
        *marks.notes(),
        *_published_note(table.rows),
    )
    return [*made[:-1], replace(made[-1], notes=notes)]


class _Marks:
    """Letters for the reasons why figures are not comparable."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}
        self._next = _letters()

    def __call__(self, reasons: Sequence[str]) -> str:
        for reason in reasons:
            if reason not in self._letters:
                self._letters[reason] = next(self._next)
        return "".join(f" [{self._letters[reason]}]" for reason in reasons)

    def notes(self) -> tuple[str, ...]:
        return tuple(f"[{letter}] not comparable: {displayed(why, 200)}" for why, letter in self._letters.items())


def _letters() -> Iterator[str]:
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))


def _by_task(table: SuiteTable, marks: _Marks) -> Grid:
    rows: list[tuple[str, ...]] = []
    rules = []
    for category in CATEGORIES:
        columns = [column for column in table.columns if column.category == category]
        for column in columns:
            if any(column.name in row.cells for row in table.rows):
                cells = [_score(row.cells.get(column.name), marks) for row in table.rows]
                baselines = (_baseline(table, column, kind) for kind in ("chance", "majority"))
                rows.append((column.name, column.metric, _documents(table, column), *cells, *map(_percent, baselines)))
        rules.append(len(rows))
        if table.suite not in UNAVERAGED:
            means = [_mean(row.means.get(category), marks) for row in table.rows]
            rows.append((f"{category.upper()} mean", "", "", *means, "", ""))
            rules.append(len(rows))
    if table.suite not in UNAVERAGED:
        rows.append(("AVG", "", "", *(_mean(row.average, marks) for row in table.rows), "", ""))
    missing = [column.name for column in table.columns if not any(column.name in row.cells for row in table.rows)]
    not_run = (f"Not run: {', '.join(missing)}.",) if missing else ()
    header = (
        "Task",
        "Metric",
        "n",
        *(table_label(row.label, published=row.published) for row in table.rows),
        "Chance",
        "Majority",
    )
    notes = (
        _legend(table),
        *_chat_notes(table),
        *_wording_notes(table),
        *not_run,
        *_missing_note(table),
        *marks.notes(),
        *_published_note(table.rows),
    )
    between = tuple(rule for rule in rules if 0 < rule < len(rows))
    return Grid(TITLES[table.suite], header, tuple(rows), notes, left=2, rules=between, name=table.suite)


def _by_category(table: SuiteTable, category: str, marks: _Marks) -> Grid:
    columns = [column for column in table.columns if column.category == category]
    has_mean = table.suite not in UNAVERAGED
    rows = [
        (
            table_label(row.label, published=row.published),
            *(_score(row.cells.get(column.name), marks) for column in columns),
            *((_mean(row.means.get(category), marks),) if has_mean else ()),
        )
        for row in table.rows
    ]
    for kind in ("chance", "majority"):
        baselines = (_percent(_baseline(table, column, kind)) for column in columns)
        rows.append((kind.capitalize(), *baselines, *(("",) if has_mean else ())))
    header = ("Model", *(SHORT.get(column.name, column.name) for column in columns), *(("Mean",) if has_mean else ()))
    title = f"{TITLES[table.suite]}: {CATEGORY_NAMES[category]}"
    return Grid(title, header, tuple(rows), rules=(len(table.rows),), name=f"{table.suite}_{category}")


def _averages(table: SuiteTable, marks: _Marks) -> Grid:
    rows = []
    for row in table.rows:
        average = row.average
        rows.append(
            (
                table_label(row.label, published=row.published),
                *(_mean(row.means.get(category), marks) for category in CATEGORIES),
                "" if average is None or average.value is None else _mean(average, marks),
                "" if average is None else f"{average.k} of {average.n}",
                "" if average is None or average.rank is None else str(average.rank),
            )
        )
    header = ("Model", *(category.upper() for category in CATEGORIES), "AVG", "Tasks", "Rank")
    return Grid(f"{TITLES[table.suite]}: averages", header, tuple(rows), name=f"{table.suite}_averages")


def _published_note(rows: Sequence[Row]) -> tuple[str, ...]:
    printed = [row for row in rows if row.published]
    caveats = dict.fromkeys(f"† not ranked: {row.caveat}." for row in printed if row.caveat)
    return tuple(caveats) or (("† printed in a paper, not measured here.",) if printed else ())


def _legend(table: SuiteTable) -> str:
    return _LEGEND.format(honest=_HONEST if any(column.name == "honest" for column in table.columns) else "")


def _chat_notes(table: SuiteTable) -> tuple[str, ...]:
    """What generated answers are worth, and for each model the tasks where most of them could not be read."""
    if table.suite != "itaeval_chat":
        return ()
    notes = ["Choices are read from generated text: not comparable with ItaEval's scores from log-probabilities."]
    for row in table.rows:
        rates = {
            name: rate
            for name, cell in row.cells.items()
            for record in cell.records
            if (rate := record.unparsable_rate)
        }
        if worst := sorted(rates, key=lambda name: -rates[name])[:_WORST]:
            listed = ", ".join(f"{name} {_percent(rates[name])}" for name in worst)
            label = table_label(row.label, published=row.published)
            notes.append(f"{label}: answers without a choice, counted as wrong, x 100: {listed}.")
    return tuple(notes)


def _wording_notes(table: SuiteTable) -> tuple[str, ...]:
    wordings = [cell.wordings for row in table.rows for cell in row.cells.values() if cell.wordings is not None]
    if not wordings:
        return ()
    count = max(len(found.scores) for found in wordings)
    note = f"Mean over {count} wordings, in brackets the spread: highest minus lowest. Documents count in each wording."
    dependent = ("~ another rank among these models with another wording.",)
    return (note, *(dependent if any(found.rank_depends for found in wordings) else ()))


def _missing_note(table: SuiteTable) -> tuple[str, ...]:
    missing = any(cell.score is None for row in table.rows for cell in row.cells.values())
    return (
        ("n/a: run, but without a score (its scorer model was skipped, or no answer could be scored).",)
        if missing
        else ()
    )


def _score(cell: Cell | None, marks: _Marks) -> str:
    if cell is None:
        return ""
    return ("n/a" if cell.score is None else _percent(cell.score)) + _spread(cell) + marks(cell.why_not)


def _spread(cell: Cell) -> str:
    """Of a task with several prompts: how far apart they are, and whether the rank is another in another one."""
    if cell.wordings is None or cell.wordings.spread is None:
        return ""
    return f" ({_percent(cell.wordings.spread)})" + (" ~" if cell.wordings.rank_depends else "")


def _mean(mean: Mean | None, marks: _Marks) -> str:
    if mean is None:
        return ""
    return (f"{mean.k} of {mean.n}" if mean.value is None else _percent(mean.value)) + marks(mean.why_not)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _documents(table: SuiteTable, column: Column) -> str:
    counts = {sum(record.n_evaluated or 0 for record in cell.records) for cell in _cells(table, column) if cell.records}
    return str(counts.pop()) if len(counts) == 1 else f"{min(counts)}-{max(counts)}" if counts else ""


def _cells(table: SuiteTable, column: Column) -> list[Cell]:
    return [row.cells[column.name] for row in table.rows if column.name in row.cells]


def _baseline(table: SuiteTable, column: Column, kind: str) -> float | None:
    """What guessing or the commonest answer scores on the documents of a comparable figure, or of all figures."""
    cells = [cell for cell in _cells(table, column) if cell.records]
    counts = {tuple(record.n_evaluated for record in cell.records) for cell in cells}
    for cell in cells:
        if cell.why_not and len(counts) > 1:
            continue
        values = [record.baseline("chance" if kind == "chance" else "majority") for record in cell.records]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            return sum(known) / len(known)
    return column.chance if kind == "chance" else None


def as_csv(tables: Sequence[SuiteTable]) -> str:
    """One row a model and suite, figures as they are (0 to 1); what is missing is an empty field."""
    columns = list(dict.fromkeys((table.suite, column.name) for table in tables for column in table.columns))
    tasks = list(dict.fromkeys(name if suite != "itapat" else f"itapat_{name}" for suite, name in columns))
    head = ["suite", "model", "published", *tasks, *CATEGORIES, "avg", "tasks", "of", "rank", "not_comparable"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for table in tables:
        prefix = "itapat_" if table.suite == "itapat" else ""
        for row in table.rows:
            scores = {prefix + name: cell.score for name, cell in row.cells.items()}
            means = [row.means[category].value if category in row.means else None for category in CATEGORIES]
            average = row.average
            writer.writerow(
                [
                    table.suite,
                    spreadsheet_text(displayed(row.label, 200)),
                    "yes" if row.published else "no",
                    *(scores.get(name) for name in tasks),
                    *means,
                    *([None] * 4 if average is None else [average.value, average.k, average.n, average.rank]),
                    spreadsheet_text("; ".join(displayed(why, 300) for why in row.why_not)),
                ]
            )
    return out.getvalue().rstrip("\n")


def spreadsheet_text(text: str) -> str:
    """A text for a field of a CSV file, with an apostrophe where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@", "\t", "\r") and text.strip() else text


def as_json(tables: Sequence[SuiteTable]) -> list[dict[str, Any]]:
    """Everything, figures as they are; what is missing is null."""
    return [
        {
            "suite": table.suite,
            "columns": [vars(column) for column in table.columns],
            "rows": [_row_json(table, row) for row in table.rows],
        }
        for table in tables
    ]


def _row_json(table: SuiteTable, row: Row) -> dict[str, Any]:
    return {
        "label": row.label,
        "model": row.model.model_dump(mode="json"),
        "published": row.published,
        "cells": {name: _cell_json(cell) for name, cell in row.cells.items()},
        "means": {name: vars(mean) for name, mean in row.means.items()},
        "average": None if row.average is None else vars(row.average),
    }


def _wordings_json(wordings: Wordings) -> dict[str, Any]:
    derived = {"spread": wordings.spread, "rank_depends": wordings.rank_depends}
    return {"scores": list(wordings.scores), "ranks": list(wordings.ranks), **derived}


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {
        "score": cell.score,
        "rank": cell.rank,
        "comparable": not cell.why_not,
        "why_not": list(cell.why_not),
        "source": cell.source,
        "wordings": None if cell.wordings is None else _wordings_json(cell.wordings),
        "tasks": [
            {
                "name": record.name,
                "metric": record.primary_metric,
                "n_evaluated": record.n_evaluated,
                "n_total": record.n_total,
                "shots": record.shots,
                "version": record.version,
                "data": record.data,
                "chance": record.baseline("chance"),
                "majority": record.baseline("majority"),
                "unparsable_rate": record.unparsable_rate,
                "reading": record.reading,
                "metrics": record.metrics,
            }
            for record in cell.records
        ],
    }
