"""Scores without rows that an audit found wrong (`lm-eval-ita translate audit`): how much a score hangs on them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.answers import Key, answers_of, statistic_of
from lm_eval_ita.results.grid import Grid
from lm_eval_ita.results.labels import model_labels
from lm_eval_ita.results.records import RunRecord, TaskRecord
from lm_eval_ita.results.samples import iter_samples
from lm_eval_ita.stats.resampling import value_of

__all__ = ["Exclusions", "Sensitivity", "read_exclusions", "sensitivities", "sensitivity_grid"]


@dataclass(frozen=True)
class Exclusions:
    """Rows to leave out.

    Attributes:
        source: The file.
        dataset: Key of the catalogue.
        matches: For each row the columns that name it.
    """

    source: Path
    dataset: str
    matches: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Sensitivity:
    """One task of one model, with and without the rows.

    Attributes:
        model, task: Which.
        documents, left_out: How many it has, and how many are left out.
        score, without: The score over all, and over the rest, 0 to 1; None where missing.
        problem: Why it could not be computed.
    """

    model: str
    task: str
    documents: int = 0
    left_out: int = 0
    score: float | None = None
    without: float | None = None
    problem: str | None = None


def read_exclusions(path: Path) -> Exclusions:
    """Read the file of an audit.

    Raises:
        UserError: It is none.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        dataset, rows = content["dataset"], content["rows"]
        matches = tuple(dict(row["match"]) for row in rows)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", file=path) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError("is no file of `lm-eval-ita translate audit --to`", file=path) from error
    if content.get("schema_version") != 1 or not isinstance(dataset, str) or not all(matches):
        raise UserError("is no file of `lm-eval-ita translate audit --to` of this version", file=path)
    return Exclusions(path, dataset, matches)


def sensitivities(runs: Sequence[RunRecord], exclusions: Sequence[Exclusions]) -> list[Sensitivity]:
    """The scores of every task of these data sets, with and without the rows; from the logged samples."""
    tasks = _tasks_of({one.dataset for one in exclusions})
    found = []
    labels = dict(zip((run.model.key for run in runs), model_labels([run.model for run in runs]), strict=True))
    for run in runs:
        for record in run.tasks.values():
            wanted = [match for one in exclusions if one.dataset in tasks.get(record.task, ()) for match in one.matches]
            if record.task in tasks:
                found.append(_sensitivity(labels[run.model.key], record, wanted))
    return found


def _tasks_of(datasets: set[str]) -> dict[str, tuple[str, ...]]:
    """Task to its data sets, of those that have one of these."""
    from lm_eval_ita.harness.task_files import read_task_files

    found = {}
    for file in read_task_files():
        if file.card is not None:
            keys = (file.card.dataset,) if isinstance(file.card.dataset, str) else tuple(file.card.dataset)
            if datasets & set(keys):
                found[file.name] = keys
    return found


def _sensitivity(model: str, record: TaskRecord, matches: Sequence[Mapping[str, Any]]) -> Sensitivity:
    try:
        values = answers_of(record).values
        out = _matching(record, matches)
        kept = [value for key, value in values.items() if key not in out]
        score = _score(record, list(values.values()))
        without = _score(record, kept) if kept else None
    except UserError as error:
        return Sensitivity(model, record.name, problem=str(error))
    return Sensitivity(model, record.name, len(values), len(out), score, without)


def _score(record: TaskRecord, values: Sequence[Any]) -> float | None:
    value = value_of(statistic_of(record, values))
    return None if value != value else value  # NaN: missing


def _matching(record: TaskRecord, matches: Sequence[Mapping[str, Any]]) -> set[Key]:
    """The documents that a match names, under the keys of `answers_of`."""
    columns = {tuple(sorted(match)) for match in matches}
    wanted = {(names, _values(match, names)) for match in matches for names in [tuple(sorted(match))]}
    found: set[Key] = set()
    seen: dict[str, int] = {}
    assert record.samples is not None
    for sample in iter_samples(record.samples):
        doc, name = sample["doc"], sample.get("doc_hash")
        key = (str(name), seen.get(str(name), 0))
        seen[str(name)] = key[1] + 1
        if any(names[0] in doc and (names, _values(doc, names)) in wanted for names in columns):
            found.add(key)
    return found


def _values(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return json.dumps([row.get(name) for name in names], ensure_ascii=False, sort_keys=True)


def sensitivity_grid(found: Sequence[Sensitivity]) -> Grid:
    """The table for people: figures x 100."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        if one.problem is not None:
            rows.append((one.model, one.task, "", "", "", "", one.problem))
            continue
        scores = [one.score, one.without]
        shown = ["n/a" if score is None else f"{100 * score:.2f}" for score in scores]
        known = [score for score in scores if score is not None]
        difference = f"{100 * (known[1] - known[0]):+.2f}" if len(known) == 2 else ""
        rows.append((one.model, one.task, str(one.documents), str(one.left_out), *shown, difference))
    header = ("Model", "Task", "n", "Left out", "Score", "Without", "Difference")
    notes = (
        "Scores x 100 over all documents, and without the rows of --exclude. The tables above hold all documents.",
    )
    return Grid("Without excluded rows", header, tuple(rows), notes, left=2, name="excluded")
