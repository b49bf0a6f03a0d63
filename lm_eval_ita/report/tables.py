"""The tables of a report that a summary does not have: ranking, intervals, settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_ita.report.content import Content, Measured, Suited
from lm_eval_ita.report.estimates import Estimate
from lm_eval_ita.results.grid import Grid, displayed
from lm_eval_ita.results.labels import table_label
from lm_eval_ita.results.records import ModelIdentity, RunRecord
from lm_eval_ita.results.suite import CATEGORIES, Mean, Row

__all__ = ["TIES", "interval_grid", "is_ranked", "models_grid", "ranking_grid", "settings_grid"]

TIES = (
    "Models that share a letter are not told apart: paired tests on the same documents (jackknife), Holm-adjusted over "
    "the pairs of a column, from 30 documents on. `lm-eval-ita compare` has exact tests for two models."
)
_INTERVALS = "In brackets: 95% interval (BCa bootstrap over documents; of means, normal with jackknife variances)."


def ranking_grid(suited: Suited) -> Grid | None:
    """The models by their average; None where no model has the whole suite, comparable throughout."""
    table, found = suited.table, suited.estimates
    whole = [(i, row) for i, row in enumerate(table.rows) if is_ranked(row)]
    if not whole:
        return None
    rows = []
    for i, row in whole:
        assert row.average is not None
        estimate = found.averages.get(i, Estimate(row.average.value))
        means = [_mean(row.means.get(category), found.means.get((i, category))) for category in CATEGORIES]
        rows.append(
            (
                table_label(row.label, published=row.published),
                str(row.average.rank),
                _figure(estimate),
                estimate.letters,
                *means,
            )
        )
    others = len(table.rows) - len(whole)
    notes = (
        _INTERVALS,
        TIES,
        *((f"{others} are not ranked: incomplete, or not comparable.",) if others else ()),
    )
    header = ("Model", "Rank", "AVG", "Ties", *(category.upper() for category in CATEGORIES))
    return Grid("Ranking", header, tuple(rows), notes)


def interval_grid(suited: Suited) -> Grid:
    """Every task's score with its interval and groups of ties, models as columns."""
    table, found = suited.table, suited.estimates
    rows = []
    for column in table.columns:
        cells = []
        for i, row in enumerate(table.rows):
            estimate = found.cells.get((i, column.name))
            figure = "" if estimate is None else _figure(estimate) or "n/a"
            letters = "" if estimate is None or not estimate.letters else f" {estimate.letters}"
            partial = " +" if column.name in row.cells and row.cells[column.name].why_not else ""
            cells.append(figure + letters + partial)
        if any(cells):
            rows.append((column.name, column.metric, *cells))
    notes = (_INTERVALS, TIES, "+ not comparable: see the table above.")
    header = ("Task", "Metric", *(table_label(row.label, published=row.published) for row in table.rows))
    return Grid("Scores with intervals and ties", header, tuple(rows), notes, left=2)


def is_ranked(row: Row) -> bool:
    """Whether a model has a place in the ranking by average."""
    return row.average is not None and row.average.rank is not None


def _mean(mean: Mean | None, estimate: Estimate | None) -> str:
    if mean is None:
        return ""
    return f"{mean.k} of {mean.n}" if mean.value is None else _figure(estimate or Estimate(mean.value))


def _figure(estimate: Estimate) -> str:
    if estimate.value is None:
        return ""
    value = f"{100 * estimate.value:.1f}"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def models_grid(content: Content) -> Grid:
    """Which models, and on what they ran."""
    runs = {id(task.run): (task.model, task.run) for task in content.measured}
    rows = tuple(_model_row(label, run) for label, run in runs.values())
    header = (
        "Model",
        "Given as",
        "Revision",
        "dtype",
        "Parameters",
        "Chat template",
        "Backend",
        "Batch",
        "Hardware",
        "Started",
        "Minutes",
        "Software",
        "File",
    )
    return Grid("Models and runs", header, rows, left=len(header))


def _model_row(label: str, run: RunRecord) -> tuple[str, ...]:
    model = run.model
    hardware = run.hardware.gpu or run.hardware.cpu or ""
    software = ", ".join(f"{name} {version}" for name, version in run.software.items())
    return (
        displayed(label, 60),
        displayed(model.name, 80),
        displayed(_revision(model), 40),
        displayed(", ".join(filter(None, (model.dtype, model.quantisation, model.adapter))), 60),
        "" if model.parameters is None else f"{model.parameters / 1e6:,.0f} M",
        "none" if model.chat_template_sha is None else displayed(model.chat_template_sha, 12),
        displayed(model.backend or "", 30),
        displayed(run.batch_size or "", 20),
        displayed(f"{run.hardware.device or ''}: {hardware}".strip(": "), 80),
        "" if run.date is None else f"{run.date:%Y-%m-%d %H:%M} UTC",
        "" if run.run_seconds is None else f"{run.run_seconds / 60:.1f}",
        displayed(software, 120) + (", rescored" if run.rescored else ""),
        displayed(str(run.source), 160),
    )


def _revision(model: ModelIdentity) -> str:
    return " ".join(part for part in (model.revision, (model.sha or "")[:12]) if part)


def settings_grid(content: Content) -> Grid:
    """How every task was run."""
    rows = tuple(_settings_row(task) for task in content.measured)
    header = (
        "Task",
        "Model",
        "Version",
        "Shots",
        "Documents",
        "Data",
        "Seed",
        "Unparsable",
        "Empty",
        "Truncated",
        "Generation",
        "Options",
    )
    return Grid("Settings by task", header, rows, left=len(header))


def _settings_row(task: Measured) -> tuple[str, ...]:
    record = task.record
    documents = "?" if record.n_evaluated is None else str(record.n_evaluated)
    whole = f" of {record.n_total}" if record.limited and record.n_total is not None else ""
    return (
        displayed(record.name),
        displayed(task.model, 40),
        displayed(record.version or "", 12),
        "" if record.shots is None else str(record.shots),
        documents + whole,
        record.data,
        "" if record.fewshot_seed is None else str(record.fewshot_seed),
        _share(record.unparsable_rate),
        _share(record.empty_rate),
        displayed(_pairs(record.truncated), 60),
        displayed(_pairs(record.gen_kwargs), 120),
        displayed(_pairs(record.options), 80),
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_shown(value)}" for name, value in values.items())


def _shown(value: object) -> str:
    return ", ".join(map(repr, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
