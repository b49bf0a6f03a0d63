"""Tasks of neither suite in a run: a researcher's own, or the harness's."""

from collections.abc import Sequence
from typing import Any

from lm_eval_ita.results.grid import Grid, displayed
from lm_eval_ita.results.labels import model_labels, table_label
from lm_eval_ita.results.records import RunRecord, TaskRecord

__all__ = ["other_tasks_grid", "other_tasks_json"]

_NOTE = "As each task reports it; of neither suite: not ranked, and in no average."


def other_tasks_grid(runs: Sequence[RunRecord]) -> Grid | None:
    """A line for each task, model and figure; None where the runs hold no such task.

    A task whose card names its `primary_metric` shows that one, any other all its figures.
    """
    rows = []
    rules = []
    before = None
    for model, record in _found(runs):
        if before is not None and record.name != before:
            rules.append(len(rows))
        before = record.name
        label = table_label(model, published=False)
        chance = record.chance_level
        for metric, value in _figures(record).items():
            shown = "n/a" if value is None else f"{value:.4f}"
            name = displayed(record.name)
            rows.append((name, label, displayed(metric), shown, "" if chance is None else f"{chance:g}", _size(record)))
    if not rows:
        return None
    header = ("Task", "Model", "Metric", "Value", "Chance", "Documents")
    return Grid("Other tasks", header, tuple(rows), (_NOTE,), left=3, rules=tuple(rules), name="other_tasks")


def other_tasks_json(runs: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The same for programs, with all figures of each task; what is missing is null."""
    return [
        {
            "task": record.name,
            "model": model,
            "version": record.version,
            "primary_metric": record.primary_metric,
            "metrics": dict(record.metrics),
            "chance": record.chance_level,
            "documents": record.n_evaluated,
            "of": record.n_total,
        }
        for model, record in _found(runs)
    ]


def _found(runs: Sequence[RunRecord]) -> list[tuple[str, TaskRecord]]:
    models = {run.model.key: run.model for run in runs}
    labels = dict(zip(models, model_labels(list(models.values())), strict=True))
    found = [(labels[run.model.key], record) for run in runs for record in run.tasks.values() if record.suite is None]
    return sorted(found, key=lambda pair: (pair[1].name, pair[0]))


def _figures(record: TaskRecord) -> dict[str, float | None]:
    if record.primary_metric is not None:
        return {record.primary_metric: record.primary_value}
    return dict(record.metrics)


def _size(record: TaskRecord) -> str:
    if record.n_evaluated is None:
        return ""
    return f"{record.n_evaluated} of {record.n_total}" if record.limited and record.n_total else str(record.n_evaluated)
