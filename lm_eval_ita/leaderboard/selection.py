"""Which rows of a table a view shows, in which order. Pure.

What is missing comes last both ways, and before it what is not comparable: neither is higher or lower than anything.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from lm_eval_ita.leaderboard.board import Entries, Entry, Table
from lm_eval_ita.leaderboard.models import Model, plain
from lm_eval_ita.leaderboard.views import View
from lm_eval_ita.results.suite import Column

__all__ = ["FACT_KEYS", "PAGE_SIZE", "Selection", "chosen", "select", "shown_columns"]

PAGE_SIZE = 25
# What the rows can be sorted by beside figures.
FACT_KEYS = ("model", "size", "date")
_BEFORE_ALL = datetime.min.replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Selection:
    """One page of a table.

    Attributes:
        entries: Its rows.
        found: How many rows there are on all pages.
        total: How many rows the table has.
        page, pages: Which page, of how many, from 1.
    """

    entries: tuple[Entry, ...]
    found: int
    total: int
    page: int
    pages: int


def select(table: Table, view: View, size: int = PAGE_SIZE) -> Selection:
    """The rows that a view shows of a table.

    Args:
        table: The suite's.
        view: Filters, order and page. A page beyond the last is the last.
        size: Rows a page.
    """
    ordered = chosen(table, view)
    pages = max(1, -(-len(ordered) // size))
    page = min(view.page, pages)
    return Selection(ordered[(page - 1) * size : page * size], len(ordered), len(table.entries), page, pages)


def chosen(table: Table, view: View) -> Entries:
    """All rows that a view's filters leave, in its order."""
    passes = _passes(view)
    places = [place for place, model in enumerate(table.entries.models) if passes(model)]
    return table.entries.taken(_ordered(table, places, view))


def shown_columns(columns: Sequence[Column], view: View) -> tuple[Column, ...]:
    """The tasks' columns that a view shows."""
    return tuple(column for column in columns if view.columns is None or column.name in view.columns)


def _passes(view: View) -> Callable[[Model], bool]:
    words = plain(view.search).split()

    def passes(model: Model) -> bool:
        if (model.printed and not view.printed) or (view.kind and model.kind != view.kind):
            return False
        if view.smallest is not None and (model.parameters is None or model.parameters < view.smallest * 1e9):
            return False
        if view.largest is not None and (model.parameters is None or model.parameters > view.largest * 1e9):
            return False
        if view.licence and model.licence != view.licence:
            return False
        return all(word in model.searched for word in words)

    return passes


def _ordered(table: Table, places: list[int], view: View) -> list[int]:
    if view.sort in FACT_KEYS:
        return _by_fact(table.entries.models, places, view)
    values = table.figures.values.get(view.sort)
    if values is None:  # a column that this table has not: its own order
        return places
    sound = table.figures.sound[view.sort]
    missing = [place for place in places if math.isnan(values[place])]
    parts = [[place for place in places if sound[place]]]
    parts.append([place for place in places if not sound[place] and not math.isnan(values[place])])
    both = [sorted(part, key=values.__getitem__, reverse=view.descending) for part in parts]
    return [*both[0], *both[1], *missing]


def _by_fact(models: Sequence[Model], places: list[int], view: View) -> list[int]:
    if view.sort == "model":
        return sorted(places, key=lambda place: plain(models[place].name), reverse=view.descending)
    known = [place for place in places if _fact(models[place], view.sort) is not None]
    unknown = [place for place in places if _fact(models[place], view.sort) is None]
    if view.sort == "size":
        return [*sorted(known, key=lambda place: models[place].parameters or 0, reverse=view.descending), *unknown]
    moments = sorted(known, key=lambda place: models[place].submitted or _BEFORE_ALL, reverse=view.descending)
    return [*moments, *unknown]


def _fact(model: Model, key: str) -> object:
    return model.parameters if key == "size" else model.submitted
