"""The board: every model's figures in the suites' tables, from submissions and printed figures. Pure.

Tables are made when they are first asked for and kept: a board does not change. A new submission makes a new board.
"""

import functools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from lm_eval_ita.leaderboard.brief import ABSENT, Brief, measured
from lm_eval_ita.leaderboard.figures import Figures, measured_figures, stacked
from lm_eval_ita.leaderboard.models import Model, printed_model
from lm_eval_ita.leaderboard.uncertainty import Interval, around, places, row_intervals
from lm_eval_ita.leaderboard.views import Origin, Shots
from lm_eval_ita.results.records import BOARD_SUITES, Suite
from lm_eval_ita.results.reference import Reference
from lm_eval_ita.results.suite import Column, Row, columns_of, with_means

__all__ = ["Board", "Entries", "Entry", "Table"]

Places = NDArray[np.intp]
# Rows of a table that are kept when they were made; a page has 25.
_KEPT_ROWS = 1000


@dataclass(frozen=True)
class Entry:
    """One row of a table.

    Attributes:
        model: Whose.
        row: Its figures.
        intervals: 95% intervals by column name, category and "avg"; what has none is left out.
        place: First and last place of the models that it is not told apart from; None where its average is not there
            or not comparable.
    """

    model: Model
    row: Row
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    place: tuple[int, int] | None = None

    def value(self, key: str) -> float | None:
        """The figure of a column, a category or "avg"."""
        if key == "avg":
            return None if self.row.average is None else self.row.average.value
        if key in self.row.means:
            return self.row.means[key].value
        cell = self.row.cells.get(key)
        return None if cell is None else cell.score

    def doubts(self, key: str) -> tuple[str, ...]:
        """Why the figure of a column, a category or "avg" is not comparable with the other models'."""
        whole = () if self.row.caveat is None else (self.row.caveat,)
        mean = self.row.average if key == "avg" else self.row.means.get(key)
        found = self.row.cells.get(key) if mean is None else mean
        return whole if found is None else (*whole, *found.why_not)

    @property
    def is_ranked(self) -> bool:
        """Whether its average has a place."""
        return self.place is not None


class Entries(Sequence[Entry]):
    """Rows of a table, each made when it is looked at: a page shows 25 of thousands.

    Attributes:
        models: Their models.
    """

    def __init__(self, models: Sequence[Model], make: Callable[[int], Entry]) -> None:
        self.models = models
        self._make = make

    def __len__(self) -> int:
        return len(self.models)

    @overload
    def __getitem__(self, place: int) -> Entry: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Entry, ...]: ...

    def __getitem__(self, place: int | slice) -> Entry | tuple[Entry, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        return self._make(range(len(self))[place])

    def taken(self, places: Sequence[int]) -> "Entries":
        """Some of the rows, in this order."""
        return Entries([self.models[place] for place in places], lambda place: self._make(places[place]))


@dataclass(frozen=True)
class Table:
    """All models' figures in one suite.

    Attributes:
        suite: Which.
        columns: In the suite's order.
        entries: Ranked models first, best first; then those with other figures; then incomplete ones, fuller first.
        figures: Of the entries.
        best: Column name, category or "avg" to the highest comparable figure.
        by_id: Id of a model to its place among the entries.
    """

    suite: Suite
    columns: tuple[Column, ...]
    entries: Entries
    figures: Figures
    best: Mapping[str, float]
    by_id: Mapping[str, int] = field(default_factory=dict)

    def model(self, model_id: str) -> Model | None:
        """A model of the table."""
        place = self.by_id.get(model_id)
        return None if place is None else self.entries.models[place]


class Board:
    """The tables of all suites.

    Args:
        briefs: One for each model and way to use it.
        references: The suites as they are installed.
        printed: Rows of published figures by suite; see `results.published`.
        majority: Task to what always giving the commonest answer scores; a task without one is left out.
    """

    def __init__(
        self,
        briefs: Sequence[Brief],
        references: Mapping[str, Reference],
        printed: Mapping[Suite, Sequence[Row]] | None = None,
        majority: Mapping[str, float] | None = None,
    ) -> None:
        self.references = references
        self.majority = dict(majority or {})
        self._briefs = tuple(briefs)
        self._printed = {
            suite: [(printed_model(row, is_chat=suite == "itapat"), row) for row in rows]
            for suite, rows in (printed or {}).items()
        }
        self._tables: dict[tuple[Suite, Origin, Shots], Table] = {}
        self._lock = threading.Lock()

    @property
    def submitted(self) -> int:
        """How many models were submitted."""
        return len(self._briefs)

    def columns(self, suite: Suite, origin: Origin = "", shots: Shots = "") -> tuple[Column, ...]:
        """A suite's columns, or those of some of its tasks: see `table`."""
        return tuple(
            column
            for column in columns_of(suite, self.references)
            if all(_is_wanted(self.references[task], origin, shots) for task in column.tasks)
        )

    @property
    def licences(self) -> list[str]:
        """The licences of the submitted models."""
        return sorted({brief.model.licence for brief in self._briefs if brief.model.licence}, key=str.casefold)

    def entries(self, model_id: str) -> dict[Suite, Entry]:
        """One model's rows in the tables that it is in."""
        found: dict[Suite, Entry] = {}
        for suite in BOARD_SUITES:
            table = self.table(suite)
            if (place := table.by_id.get(model_id)) is not None:
                found[suite] = table.entries[place]
        return found

    def table(self, suite: Suite, origin: Origin = "", shots: Shots = "") -> Table:
        """One suite's table.

        Args:
            suite: Which.
            origin: "native" for tasks written in Italian only. Averages are then over these, and the categories that
                have some.
            shots: "zero" or "few" for tasks without or with examples in their prompts only.
        """
        key = (suite, origin, shots)
        with self._lock:
            if key not in self._tables:
                self._tables[key] = self._made(*key)
            return self._tables[key]

    def _made(self, suite: Suite, origin: Origin, shots: Shots) -> Table:
        columns, is_whole = self.columns(suite, origin, shots), not origin and not shots
        printed = [
            Entry(model, row if is_whole else _over(row, columns)) for model, row in self._printed.get(suite, ())
        ]
        briefs, figures = self._figures(suite, columns)
        figures = stacked(_printed_figures(printed, tuple(figures.values), columns), figures)
        models = [*(entry.model for entry in printed), *(brief.model for brief in briefs)]
        order, places = _order(suite, models, figures)

        @functools.lru_cache(maxsize=_KEPT_ROWS)
        def made(place: int) -> Entry:
            number = int(order[place])
            if number < len(printed):
                return printed[number]
            entry = _measured(briefs[number - len(printed)], suite, columns, self.references)
            return replace(entry, place=places[place]) if place < len(places) else entry

        entries = Entries([models[number] for number in order], made)
        by_id = {model.id: place for place, model in enumerate(entries.models)}
        ordered = figures.taken(order)
        return Table(suite, columns, entries, ordered, _best(entries, ordered), by_id)

    def _figures(self, suite: Suite, columns: Sequence[Column]) -> tuple[list[Brief], Figures]:
        """The submitted models that have something of these columns, and their figures."""
        whole = columns_of(suite, self.references)
        chosen = [whole.index(column) for column in columns]
        briefs = [
            brief
            for brief in self._briefs
            if suite in brief.suites and any(brief.suites[suite].marks[number] != ABSENT for number in chosen)
        ]
        own = [brief.suites[suite] for brief in briefs]
        return briefs, measured_figures(own, whole, columns, with_means=suite != "itapat")


def _is_wanted(reference: Reference, origin: Origin, shots: Shots) -> bool:
    if origin and reference.origin != origin:
        return False
    return not shots or (shots == "zero") == (reference.shots == 0)


def _measured(brief: Brief, suite: Suite, columns: Sequence[Column], references: Mapping[str, Reference]) -> Entry:
    submission = brief.read()
    row = measured(submission, brief.model.name, suite, columns, references)
    assert row is not None, "the brief says that there are cells"
    by_task = submission.intervals
    if suite == "itapat":
        return Entry(brief.model, row, {c.name: by_task[c.tasks[0]] for c in columns if c.tasks[0] in by_task})
    row = _with_doubts(with_means(row, columns), columns)
    return Entry(brief.model, row, row_intervals(row, columns, by_task))


def _printed_figures(entries: Sequence[Entry], keys: Sequence[str], columns: Sequence[Column]) -> Figures:
    values = {key: np.array([entry.value(key) for entry in entries], dtype=np.float64) for key in keys}
    sound = {
        key: np.array([entry.value(key) is not None and not entry.doubts(key) for entry in entries], dtype=bool)
        for key in keys
    }
    known = [0 if entry.row.average is None else entry.row.average.k for entry in entries]
    return Figures(values, sound, np.array(known, dtype=np.int64), np.full(len(entries), np.nan))


def _with_doubts(row: Row, columns: Sequence[Column]) -> Row:
    """The row with its cells' reasons for not being comparable at the means that they are in."""
    doubts: dict[str, list[str]] = {}
    for column in columns:
        cell = row.cells.get(column.name)
        if cell is not None and cell.why_not:
            doubts.setdefault(column.category, []).extend(f"{column.name}: {why}" for why in cell.why_not)
    if not doubts or row.average is None:
        return row
    means = {name: replace(mean, why_not=tuple(doubts.get(name, ()))) for name, mean in row.means.items()}
    average = replace(row.average, why_not=tuple(why for reasons in doubts.values() for why in reasons))
    return replace(row, means=means, average=average)


def _over(row: Row, columns: Sequence[Column]) -> Row:
    """A printed row with means made from its sound figures, as those over these columns were not printed."""
    cells = {column.name: row.cells[column.name] for column in columns if column.name in row.cells}
    sound = {name: replace(cell, score=None) if cell.why_not else cell for name, cell in cells.items()}
    means = with_means(replace(row, cells=sound), columns)
    return replace(means, cells=cells)


def _order(suite: Suite, models: Sequence[Model], figures: Figures) -> tuple[Places, list[tuple[int, int]]]:
    """The order of a table's models, and the places of those that are ranked, which come first."""
    folded = [model.name.casefold() for model in models]
    numbers = range(len(models))
    if suite == "itapat":
        order = sorted(numbers, key=lambda i: (models[i].printed, folded[i]))
        return np.array(order, dtype=np.intp), []
    values, sound = figures.values["avg"].tolist(), figures.sound["avg"].tolist()
    variances, known = figures.variances.tolist(), figures.known.tolist()
    ranked = sorted((i for i in numbers if sound[i]), key=lambda i: (-values[i], folded[i], models[i].id))
    intervals = [None if math.isnan(variances[i]) else around(values[i], variances[i]) for i in ranked]
    missing = [math.isnan(value) for value in values]
    others = sorted(
        (i for i in numbers if not sound[i]),
        key=lambda i: (missing[i], 0.0 if missing[i] else -values[i], -known[i], folded[i]),
    )
    return np.array([*ranked, *others], dtype=np.intp), places([values[i] for i in ranked], intervals)


def _best(entries: Entries, figures: Figures) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, values in figures.values.items():
        sound = figures.sound[key]
        if sound.any():
            # As the row itself has it: a mean made in another way differs in its last digit.
            value = entries[int(np.where(sound, values, -np.inf).argmax())].value(key)
            assert value is not None
            found[key] = value
    return found
