"""The table of ItaEval."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from lm_eval_ita.leaderboard.board import Entry, Table
from lm_eval_ita.leaderboard.pages.table import Cell, Doubts, Head, frame, head, name, place_text
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.selection import select, shown_columns
from lm_eval_ita.leaderboard.views import NO_COLUMN, ViewSuite
from lm_eval_ita.results.suite import CATEGORIES, Column

__all__ = ["ORIGIN_MARKS", "content"]

_SUITES: tuple[ViewSuite, ...] = ("itaeval", "itaeval_chat", "itaeval_v1")
# In both languages' notes under the table.
ORIGIN_MARKS = {
    "it": {"native": "N", "human_translated": "U", "machine_translated": "M", "template": "T"},
    "en": {"native": "N", "human_translated": "H", "machine_translated": "M", "template": "T"},
}
METRICS = {
    "f1_macro": "F1",
    "mcc": "MCC",
    "acc_norm": "acc",
    "exact_match": "EM",
    "neutral_rate": "neutr.",
    "bertscore": "BERTSc.",
}


def content(scene: Scene) -> dict[str, Any]:
    """What the template shows."""
    view = scene.view
    table = scene.board.table(view.suite, view.origin, view.shots)
    selection = select(table, view)
    columns = shown_columns(table.columns, view)
    categories = [category for category in CATEGORIES if any(column.category == category for column in table.columns)]
    doubts = Doubts(scene)
    rows = [_row(scene, table, entry, columns, categories, doubts) for entry in selection.entries]
    return {
        "frame": frame(scene, selection),
        "lead": scene.t[f"{view.suite}_lead"],
        "suites": [(suite, scene.t[f"suite_{suite}"]) for suite in _SUITES],
        "groups": _groups(scene, columns, len(categories)),
        "heads": [*_fixed_heads(scene, categories), *_task_heads(scene, columns), _date_head(scene)],
        "rows": rows,
        "baselines": _baselines(scene, columns, len(categories)),
        "notes": _notes(scene, selection.entries, doubts),
        "choices": _choices(scene, table),
        "csv_href": f"leaderboard.csv?{view.query()}",
        "no_column": NO_COLUMN,
    }


def _fixed_heads(scene: Scene, categories: Sequence[str]) -> list[Head]:
    t = scene.t
    return [
        head(scene, "model", t["model"], t["model"], kind="name"),
        head(scene, "size", t["size_short"], t["size_long"]),
        head(scene, "avg", t["average"], t["average_hint"], starts=True),
        *(head(scene, each, each.upper(), t[f"category_{each}_long"]) for each in categories),
    ]


def _date_head(scene: Scene) -> Head:
    return head(scene, "date", scene.t["sent_on"], scene.t["model_submitted"], starts=True)


def _task_heads(scene: Scene, columns: Sequence[Column]) -> list[Head]:
    t, found, last = scene.t, [], ""
    marks = ORIGIN_MARKS[t.language]
    for column in columns:
        origin = scene.board.references[column.tasks[0]].origin
        title = f"{t.get(f'task_{column.name}', column.name)} {column.metric}, {t.get(f'origin_{origin}', origin)}."
        note = f"{METRICS.get(column.metric, column.metric)} · {marks.get(origin, '')}"
        found.append(head(scene, column.name, scene.short(column), title, note=note, starts=column.category != last))
        last = column.category
    return found


def _groups(scene: Scene, columns: Sequence[Column], means: int) -> list[tuple[str, int]]:
    """The row above the heads: names over the columns' groups, and how many columns each spans."""
    tasks = [
        (scene.t[f"category_{category}"], len(list(own)))
        for category, own in groupby(columns, key=lambda column: column.category)
    ]
    return [("", 2), ("", 1), (scene.t["averages"], means + 1), *tasks, ("", 1)]


def _row(
    scene: Scene, table: Table, entry: Entry, columns: Sequence[Column], categories: Sequence[str], doubts: Doubts
) -> dict[str, Any]:
    keys = [*("avg", *categories), *(column.name for column in columns)]
    starts = {"avg"} | {next(own).name for _, own in groupby(columns, key=lambda column: column.category)}
    return {
        "place": "" if entry.place is None else place_text(entry.place),
        "name": name(scene, entry),
        "size": scene.t.size(entry.model.parameters),
        "cells": [(_cell(scene, table, entry, key, doubts), key in starts) for key in keys],
        "date": scene.t.date(entry.model.submitted),
    }


def _cell(scene: Scene, table: Table, entry: Entry, key: str, doubts: Doubts) -> Cell:
    t, value = scene.t, entry.value(key)
    mean = entry.row.average if key == "avg" else entry.row.means.get(key)
    if value is None:
        if key == "avg" and mean is not None and mean.k:
            return Cell(t["of_tasks"].format(k=mean.k, n=mean.n), kind="partial")
        return Cell(kind="missing")
    # What is true of a whole row is said once, of its name.
    own = [why for why in entry.doubts(key) if why != entry.row.caveat]
    kinds = ["mean"] if mean is not None else []
    kinds += ["doubtful"] if own else ["best"] if value == table.best.get(key) and not entry.doubts(key) else []
    interval = entry.intervals.get(key) if scene.view.intervals else None
    below = "" if interval is None else f"{t.percent(interval[0])}–{t.percent(interval[1])}"
    return Cell(t.percent(value), below, doubts(own), " ".join(kinds), title="; ".join(t.reason(why) for why in own))


def _baselines(scene: Scene, columns: Sequence[Column], means: int) -> list[tuple[str, list[str]]]:
    """Rows under the models: what guessing and the commonest answer score."""
    t, majority = scene.t, scene.board.majority
    chance = [t.percent(column.chance) for column in columns]
    commonest = [t.percent(majority.get(column.tasks[0])) for column in columns]
    rows = [(t["guessing"], chance), (t["majority"], commonest)]
    return [(label, [*[""] * (means + 1), *texts, ""]) for label, texts in rows if any(texts)]


def _notes(scene: Scene, entries: Sequence[Entry], doubts: Doubts) -> list[str]:
    t, view = scene.t, scene.view
    notes = [t["legend_best"], t["legend_missing"], t["legend_partial"]]
    notes += [t["legend_places"]] if any(entry.place is not None for entry in entries) else []
    notes += [t["legend_origin"]]
    notes += [t["legend_some"]] if view.origin or view.shots else []
    caveats = dict.fromkeys(entry.row.caveat for entry in entries if entry.model.printed)
    notes += [" ".join((t["legend_printed"], *(t.sentence(why) for why in caveats if why)))] if caveats else []
    return notes + doubts.notes()


def _choices(scene: Scene, table: Table) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """The boxes of the column chooser, by category."""
    wanted = scene.view.columns
    return [
        (
            scene.t[f"category_{category}_long"],
            [(column.name, scene.short(column), wanted is None or column.name in wanted) for column in own],
        )
        for category, own in groupby(table.columns, key=lambda column: column.category)
    ]
