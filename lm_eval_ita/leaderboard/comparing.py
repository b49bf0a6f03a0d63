"""A few models task by task: differences from the first of them, with intervals and tests. Pure.

Where the figures of two models are known document by document, on the same documents, their difference is tested on
these (jackknife covariances, normal approximation, as in reports). Elsewhere the two scores are taken as independent,
which makes intervals wider than they are and gives no p-value.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.board import Entry
from lm_eval_ita.leaderboard.uncertainty import Interval, standard_error
from lm_eval_ita.results.answers import statistic_of
from lm_eval_ita.results.documents import answers_from
from lm_eval_ita.results.submission_records import TaskDocuments
from lm_eval_ita.results.suite import Column
from lm_eval_ita.stats.jackknife import covariance, z_test
from lm_eval_ita.stats.multiplicity import holm
from lm_eval_ita.stats.statistic import Statistic

__all__ = ["Comparison", "Difference", "compare_entries", "sound_value"]

_Z = 1.959963984540054  # of a 95% interval
# Fewer documents than these say too little for a test.
_FEWEST = 30

Documents = Callable[[str], Mapping[str, TaskDocuments]]


@dataclass(frozen=True)
class Difference:
    """One model beside the first.

    Attributes:
        score: Its own; None where it is missing.
        value: Its score minus the first's; None where one is missing.
        interval: 95%, of the difference; None where nothing is known of one of the two.
        is_paired: Whether the interval comes from the same documents.
        p_value: Of no difference, two-sided; None where not paired.
        p_holm: The same, adjusted over all differences of the comparison.
    """

    score: float | None
    value: float | None = None
    interval: Interval | None = None
    is_paired: bool = False
    p_value: float | None = None
    p_holm: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the difference is one at 5%, adjusted."""
        return self.p_holm is not None and self.p_holm < 0.05


@dataclass(frozen=True)
class Comparison:
    """One task, or one mean of tasks.

    Attributes:
        key: The column of the suite's table; a category or "avg" for a mean.
        first: The first model's score; None where it is missing.
        others: The other models in their order.
    """

    key: str
    first: float | None
    others: tuple[Difference, ...]


def compare_entries(entries: Sequence[Entry], columns: Sequence[Column], documents: Documents) -> list[Comparison]:
    """Compare models over the means and tasks that at least two of them have.

    Args:
        entries: The models' rows, the first being what the others are compared with.
        columns: Of the suite.
        documents: Id of a model to its figures by document, by task.
    """
    by_key: dict[str, Column | None] = {"avg": None, **{column.category: None for column in columns}}
    by_key |= {column.name: column for column in columns}
    found = [
        _compared(entries, key, column, documents)
        for key, column in by_key.items()
        if sum(entry.value(key) is not None for entry in entries) >= 2
    ]
    p_values = [_known(other.p_value) for each in found for other in each.others]
    adjusted = iter(holm(p_values) if p_values else [])
    return [
        replace(each, others=tuple(replace(other, p_holm=_missing(next(adjusted))) for other in each.others))
        for each in found
    ]


def _known(p_value: float | None) -> float:
    return math.nan if p_value is None else p_value


def _missing(p_value: float) -> float | None:
    return None if math.isnan(p_value) else p_value


def _compared(entries: Sequence[Entry], key: str, column: Column | None, documents: Documents) -> Comparison:
    first, one = entries[0], sound_value(entries[0], key)
    others = []
    for entry in entries[1:]:
        two = sound_value(entry, key)
        if one is None or two is None:
            others.append(Difference(entry.value(key)))
            continue
        found = None if column is None else _paired(first, entry, column, documents)
        others.append(replace(found or _apart(first, entry, key), score=two, value=two - one))
    return Comparison(key, first.value(key), tuple(others))


def sound_value(entry: Entry, key: str) -> float | None:
    """A figure that may be compared: none that is known to be wrong, nor one of another task than the suite's.

    Figures printed with another configuration are set beside the others, as the page says of them.
    """
    doubts = [why for why in entry.doubts(key) if why != entry.row.caveat]
    return None if doubts else entry.value(key)


def _documents(entry: Entry, column: Column, documents: Documents) -> TaskDocuments | None:
    if entry.model.printed or len(column.tasks) != 1:
        return None
    return documents(entry.model.id).get(column.tasks[0])


def _paired(first: Entry, second: Entry, column: Column, documents: Documents) -> Difference | None:
    one, two = (_documents(entry, column, documents) for entry in (first, second))
    if one is None or two is None or one.documents_sha != two.documents_sha:
        return None
    try:
        statistics = [_statistic(entry, column, own) for entry, own in ((first, one), (second, two))]
        if len(statistics[0].row_of) < _FEWEST or len(statistics[0].row_of) != len(statistics[1].row_of):
            return None
        spread = covariance(statistics)
    except UserError:  # a metric that has no values by document
        return None
    variance = spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]
    scores = np.array([first.value(column.name), second.value(column.name)], dtype=np.float64)
    if not math.isfinite(variance):
        return None
    half, value = _Z * math.sqrt(max(0.0, variance)), float(scores[1] - scores[0])
    p_value = float(z_test(scores, spread)[0, 1])
    return Difference(None, value, (value - half, value + half), is_paired=True, p_value=_missing(p_value))


def _statistic(entry: Entry, column: Column, own: TaskDocuments) -> Statistic:
    record = entry.row.cells[column.name].records[0]
    return statistic_of(record, list(answers_from(column.tasks[0], own).values.values()))


def _apart(first: Entry, second: Entry, key: str) -> Difference:
    one, two = first.intervals.get(key), second.intervals.get(key)
    start, end = first.value(key), second.value(key)
    if one is None or two is None or start is None or end is None:
        return Difference(None)
    half = _Z * math.hypot(standard_error(one), standard_error(two))
    return Difference(None, interval=(end - start - half, end - start + half))
