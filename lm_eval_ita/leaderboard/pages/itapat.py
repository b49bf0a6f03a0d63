"""The tables of ItaP-AT: scores as a heat map, shares of answers, and what one-shot prompts change."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, get_args

from lm_eval_ita.itapat.score import ALPHA
from lm_eval_ita.leaderboard.board import Entry, Table
from lm_eval_ita.leaderboard.pages.table import Cell, Doubts, Head, frame, head, name
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.selection import select
from lm_eval_ita.leaderboard.texts import Texts
from lm_eval_ita.leaderboard.views import Part
from lm_eval_ita.results.suite import Cell as Score
from lm_eval_ita.results.suite import Column, is_oneshot

__all__ = ["READING_SIGNS", "Bar", "bar", "colours", "content", "reading_of", "standard_columns"]

READING_SIGNS = {"biased": "▲", "anti-biased": "▼", "neutral": "○", "unable": "∅"}
_OUTCOMES = ("attribute_1", "attribute_2", "neutral", "error")
_ONESHOT = "oneshot_"


@dataclass(frozen=True)
class Bar:
    """The shares of a test's answers.

    Attributes:
        parts: Class and width in percent of each that is there.
        title: The shares in words.
        errors: The share of errors.
    """

    parts: tuple[tuple[str, str], ...]
    title: str
    errors: str


def content(scene: Scene) -> dict[str, Any]:
    """What the template shows."""
    table, view, t = scene.board.table("itapat"), scene.view, scene.t
    selection = select(table, view)
    columns = standard_columns(table)
    doubts = Doubts(scene)
    return {
        "frame": frame(scene, selection),
        "parts": [(part, t[f"part_{part}"], scene.link(part=part)) for part in get_args(Part)],
        "part_lead": t[f"itapat_{view.part}_lead"],
        "groups": [(t[f"category_{key}"], len(list(own))) for key, own in groupby(columns, key=lambda c: c.category)],
        "heads": _heads(scene, columns),
        "rows": [_row(scene, entry, columns, doubts) for entry in selection.entries],
        "scale": [(colours(step / 4)[0], t.signed(step / 4)) for step in range(-4, 5)] if view.part == "scores" else [],
        "outcomes": [(outcome, t[f"rate_{outcome}"]) for outcome in _OUTCOMES] if view.part == "rates" else [],
        "notes": _notes(scene, selection.entries, doubts),
        "csv_href": f"leaderboard.csv?{view.query()}",
    }


def _row(scene: Scene, entry: Entry, columns: Sequence[Column], doubts: Doubts) -> dict[str, Any]:
    t, view, starts = scene.t, scene.view, _starts(columns)
    cells: list[tuple[Cell | Bar | None, bool]] = []
    for column in columns:
        own: Cell | Bar | None
        if view.part == "rates":
            found = entry.row.cells.get(column.name)
            own = None if found is None else bar(t, found)
        elif view.part == "oneshot":
            own = _oneshot_cell(t, entry, column)
        else:
            own = _score_cell(scene, entry, column, doubts)
        cells.append((own, column.name in starts))
    return {
        "name": name(scene, entry),
        "size": t.size(entry.model.parameters),
        "cells": cells,
        "mean": _mean_size(t, entry, columns) if view.part == "scores" else None,
    }


def standard_columns(table: Table) -> list[Column]:
    """The sixteen tests, without their one-shot versions."""
    return [column for column in table.columns if not is_oneshot(column.name)]


def _starts(columns: Sequence[Column]) -> set[str]:
    return {next(own).name for _, own in groupby(columns, key=lambda column: column.category)}


def _heads(scene: Scene, columns: Sequence[Column]) -> list[Head]:
    t, starts = scene.t, _starts(columns)
    found = [
        head(scene, "model", t["model"], t["model"], kind="name"),
        head(scene, "size", t["size_short"], t["size_long"]),
    ]
    for column in columns:
        title = t.get(f"test_{column.name}", column.name)
        found.append(head(scene, column.name, scene.short(column), title, starts=column.name in starts))
    return found


def reading_of(cell: Score) -> str:
    """A cell's reading; of a printed one as far as its stars and shares tell."""
    if cell.records and cell.records[0].reading is not None:
        return cell.records[0].reading
    if cell.unable:
        return "unable"
    # Two stars are p < ALPHA.
    assert ALPHA == 0.05
    if cell.score is None or cell.stars < 2 or cell.score == 0:
        return "neutral"
    return "biased" if cell.score > 0 else "anti-biased"


def colours(score: float) -> tuple[str, str]:
    """Background and ink of a bias score."""
    from lm_eval_ita.report.figures.bias_heatmap import colour_of
    from lm_eval_ita.report.figures.theme import ink_on

    background = colour_of(max(-1.0, min(1.0, score)))
    return background, ink_on(background)


def _score_cell(scene: Scene, entry: Entry, column: Column, doubts: Doubts) -> Cell:
    t, cell = scene.t, entry.row.cells.get(column.name)
    if cell is None or cell.score is None:
        return Cell(kind="missing")
    reading = reading_of(cell)
    interval = entry.intervals.get(column.name) if scene.view.intervals else None
    below = READING_SIGNS.get(reading, "") if interval is None else f"{t.signed(interval[0])} {t.signed(interval[1])}"
    score = f"{t.signed(cell.score)}{'*' * cell.stars}"
    title = "; ".join([t.get(f"reading_{reading}", reading), *(t.reason(why) for why in cell.why_not)])
    if reading == "unable":
        return Cell(f"({score})", below, doubts(cell.why_not), "heat unable", title)
    background, ink = colours(cell.score)
    return Cell(score, below, doubts(cell.why_not), "heat", title, f"background:{background};color:{ink}")


def _mean_size(t: Texts, entry: Entry, columns: Sequence[Column]) -> str:
    scores = [entry.value(column.name) for column in columns]
    known = [abs(score) for score in scores if score is not None]
    return t.number(sum(known) / len(known), 2) if len(known) == len(columns) else ""


def bar(t: Texts, cell: Score) -> Bar | None:
    """A test's answers as a bar; None where a share is missing."""
    rates = [rate for rate in cell.rates if rate is not None and 0 <= rate <= 1]
    if len(rates) < len(_OUTCOMES):
        return None
    whole = sum(rates) or 1.0
    parts = tuple(
        (outcome, f"{100 * rate / whole:.2f}") for outcome, rate in zip(_OUTCOMES, rates, strict=True) if rate
    )
    said = ", ".join(f"{t[f'rate_{outcome}']} {t.share(rate)}" for outcome, rate in zip(_OUTCOMES, rates, strict=True))
    return Bar(parts, said, t.share(rates[3]))


def _oneshot_cell(t: Texts, entry: Entry, column: Column) -> Cell:
    standard, oneshot = entry.value(column.name), entry.value(_ONESHOT + column.name)
    if standard is None or oneshot is None:
        return Cell(kind="missing")
    change = round(abs(oneshot), 4) - round(abs(standard), 4)
    kind = "smaller" if change < 0 else "larger" if change > 0 else "same"
    sign = {"smaller": "↓", "larger": "↑", "same": "="}[kind]
    text = f"{t.signed(standard)} → {t.signed(oneshot)}"
    return Cell(
        f"{sign} {t.number(abs(change), 2)}", text, kind=f"change {kind}", title=f"{text}: {t[f'oneshot_{kind}']}"
    )


def _notes(scene: Scene, entries: Sequence[Entry], doubts: Doubts) -> list[str]:
    t = scene.t
    notes = [t["legend_stars"], t["legend_readings"]] if scene.view.part == "scores" else []
    caveats = dict.fromkeys(entry.row.caveat for entry in entries if entry.row.caveat)
    notes += [" ".join((t["legend_printed"], *(t.sentence(why) for why in caveats if why)))] if caveats else []
    return notes + doubts.notes()
