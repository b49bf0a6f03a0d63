"""Two to five models beside each other."""

import functools
import threading
from collections.abc import Sequence
from typing import Any

from lm_eval_ita.leaderboard.board import Entry
from lm_eval_ita.leaderboard.comparing import Comparison, Difference, compare_entries, sound_value
from lm_eval_ita.leaderboard.models import Model
from lm_eval_ita.leaderboard.pages.itapat import READING_SIGNS, colours, reading_of, standard_columns
from lm_eval_ita.leaderboard.pages.table import facts
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.selection import chosen
from lm_eval_ita.leaderboard.views import MOST_COMPARED, View
from lm_eval_ita.results.suite import CATEGORIES, Column

__all__ = ["content"]

_CANDIDATES = 8
_RADAR_AXES = 3
# matplotlib's settings belong to the whole process while a figure is drawn.
_DRAWING = threading.Lock()


def content(scene: Scene) -> dict[str, Any]:
    """What the template shows."""
    view, board = scene.view, scene.board
    table, association = board.table(view.suite), board.table("itapat")
    entries = {entry.model.id: entry for one in (association, table) for entry in _entries(one, view.models)}
    models = [entries[each].model for each in view.models if each in entries]
    own = [entry for model in models for entry in _entries(table, (model.id,))]
    tasks = compare_entries(own, table.columns, scene.library.documents) if len(own) >= 2 else []
    return {
        "models": [_model(scene, model, place) for place, model in enumerate(models)],
        "candidates": _candidates(scene, [model.id for model in models]),
        "hidden": [("tab", "compare"), ("models", ",".join(view.models)), ("lang", view.language or scene.t.language)],
        "names": [_label(entry.model) for entry in own],
        "groups": _groups(scene, own, table.columns, tasks),
        "is_paired": any(other.is_paired for task in tasks for other in task.others),
        "is_apart": any(other.interval and not other.is_paired for task in tasks for other in task.others),
        "has_printed": any(entry.model.printed for entry in own),
        "radar": _radar(scene, own, table.columns),
        "association": _association(scene, [entry for model in models for entry in _entries(association, (model.id,))]),
        "most": MOST_COMPARED,
    }


def _label(model: Model) -> str:
    return model.name + (" †" if model.printed else "")


def _entries(table: Any, models: Sequence[str]) -> list[Entry]:
    return [table.entries[table.by_id[each]] for each in models if each in table.by_id]


def _model(scene: Scene, model: Model, place: int) -> dict[str, Any]:
    ids = scene.view.models
    return {
        "name": model.name,
        "facts": " · ".join(part for part in (scene.t.size(model.parameters), facts(scene, model)) if part),
        "printed": model.printed,
        "href": scene.page_link("model", model=model.id),
        "remove": scene.link(models=tuple(each for each in ids if each != model.id)),
        "first": "" if place == 0 else scene.link(models=(model.id, *(each for each in ids if each != model.id))),
    }


def _candidates(scene: Scene, models: Sequence[str]) -> list[dict[str, str]]:
    """Models to add: those that the search finds; the first of the table while there is nothing to compare yet."""
    view = scene.view
    if len(models) >= MOST_COMPARED or (len(models) >= 2 and not view.search):
        return []
    wanted = View(search=view.search)
    tables = (scene.board.table(view.suite), scene.board.table("itapat"))
    both = [model for table in tables for model in chosen(table, wanted).models]
    found = {model.id: model for model in both if model.id not in models}
    return [
        {
            "name": _label(model),
            "facts": scene.t.size(model.parameters),
            "href": scene.link(models=(*models, model.id), search=""),
        }
        for model in list(found.values())[:_CANDIDATES]
    ]


def _groups(
    scene: Scene, entries: Sequence[Entry], columns: Sequence[Column], found: Sequence[Comparison]
) -> list[dict[str, Any]]:
    """The means, then each category's tasks."""
    t, by_key = scene.t, {each.key: each for each in found}
    means = [("avg", t["average"], t["average_hint"])]
    means += [(category, category.upper(), t[f"category_{category}_long"]) for category in CATEGORIES]
    groups = [(t["averages"], means)]
    for category in CATEGORIES:
        own = [column for column in columns if column.category == category]
        names = [(each.name, scene.short(each), t.get(f"task_{each.name}", each.name)) for each in own]
        groups.append((t[f"category_{category}_long"], names))
    shown = [
        {
            "name": name,
            "rows": [_row(scene, entries, by_key[key], text, title) for key, text, title in rows if key in by_key],
        }
        for name, rows in groups
    ]
    return [group for group in shown if group["rows"]]


def _row(scene: Scene, entries: Sequence[Entry], each: Comparison, text: str, title: str) -> dict[str, Any]:
    doubts = [_doubt(scene, entry, each.key) for entry in entries]
    return {
        "task": text,
        "title": title,
        "first": scene.t.percent(each.first),
        "first_doubt": doubts[0],
        "others": [
            {**_difference(scene, other), "doubt": doubt} for other, doubt in zip(each.others, doubts[1:], strict=True)
        ],
    }


def _doubt(scene: Scene, entry: Entry, key: str) -> str:
    """Why a figure is not compared; empty where it is, or is missing."""
    if entry.value(key) is None or sound_value(entry, key) is not None:
        return ""
    return "; ".join(scene.t.reason(why) for why in entry.doubts(key))


def _difference(scene: Scene, other: Difference) -> dict[str, str]:
    t = scene.t
    shown = {"score": t.percent(other.score), "value": "", "interval": "", "sign": "", "kind": "", "title": ""}
    if other.value is None:
        return shown
    shown["value"] = t.signed(100 * other.value, 1)
    if other.interval is not None:
        low, high = (t.signed(100 * bound, 1) for bound in other.interval)
        shown["interval"] = f"{'' if other.is_paired else '≈ '}[{low}; {high}]"
    if other.p_holm is not None:
        shown["title"] = t.p_value(other.p_holm)
    if other.is_significant:
        better = other.value > 0
        shown |= {"sign": "▲" if better else "▼", "kind": "better" if better else "worse"}
        shown["title"] = f"{t['compare_better' if better else 'compare_worse']}, {shown['title']}"
    return shown


def _radar(scene: Scene, entries: Sequence[Entry], columns: Sequence[Column]) -> dict[str, Any] | None:
    """The profile over the tasks that all have, drawn from sound figures only."""
    shared = [column for column in columns if all(sound_value(entry, column.name) is not None for entry in entries)]
    if len(entries) < 2:
        return None
    if len(shared) < _RADAR_AXES:
        return {"svg": None, "caption": scene.t["radar_too_few"]}
    profiles = tuple(
        (_label(entry.model), tuple(100 * (sound_value(entry, column.name) or 0.0) for column in shared))
        for entry in entries
    )
    axes = tuple(scene.short(column) for column in shared)
    caption = scene.t["radar_caption"].format(n=len(shared))
    return {"svg": _radar_svg(profiles, axes, scene.t["radar"], caption), "caption": caption}


@functools.lru_cache(maxsize=128)
def _radar_svg(
    profiles: tuple[tuple[str, tuple[float, ...]], ...], axes: tuple[str, ...], title: str, caption: str
) -> Any:
    from markupsafe import Markup

    from lm_eval_ita.report.figures import RadarModel, as_svg, radar

    with _DRAWING:
        figure = radar([RadarModel(name, values) for name, values in profiles], axes, title)
        return Markup(as_svg(figure, alt=caption, prefix="radar"))  # escapes the texts in it


def _association(scene: Scene, entries: Sequence[Entry]) -> dict[str, Any] | None:
    """The bias scores side by side."""
    t = scene.t
    if len(entries) < 2:
        return None
    rows = []
    for column in standard_columns(scene.board.table("itapat")):
        cells = [entry.row.cells.get(column.name) for entry in entries]
        if not any(cell is not None and cell.score is not None for cell in cells):
            continue
        shown = []
        for entry, cell in zip(entries, cells, strict=True):
            if cell is None or cell.score is None:
                shown.append({"text": "", "below": "", "style": "", "kind": "missing", "title": ""})
                continue
            reading, interval = reading_of(cell), entry.intervals.get(column.name)
            background, ink = colours(cell.score)
            text = f"{t.signed(cell.score)}{'*' * cell.stars} {READING_SIGNS.get(reading, '')}"
            shown.append(
                {
                    "text": f"({text})" if reading == "unable" else text,
                    "below": "" if interval is None else f"[{t.signed(interval[0])}; {t.signed(interval[1])}]",
                    "style": "" if reading == "unable" else f"background:{background};color:{ink}",
                    "kind": "heat unable" if reading == "unable" else "heat",
                    "title": t.get(f"reading_{reading}", reading),
                }
            )
        group = t[f"category_{column.category}"]
        rows.append(
            {"test": f"{group} {scene.short(column)}", "title": t.get(f"test_{column.name}", ""), "cells": shown}
        )
    return {"names": [_label(entry.model) for entry in entries], "rows": rows}
