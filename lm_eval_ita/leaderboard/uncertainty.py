"""Intervals of means from intervals of tasks, and which neighbours in a ranking are not told apart.

Tasks have documents of their own, so the variances of their scores add up. Two models answer the same documents, whose
scores go up and down together: taking them as independent makes their difference look less certain than it is, so that
groups are rather too large than too small. `lm-eval-ita compare` and the app's own comparison, which have the figures
by document, tell more models apart.
"""

import math
from collections.abc import Mapping, Sequence

from lm_eval_ita.results.suite import CATEGORIES, Column, Row

__all__ = ["Interval", "around", "column_variances", "mean_variance", "places", "row_intervals", "standard_error"]

Interval = tuple[float, float]
_Z = 1.959963984540054  # of a 95% interval


def standard_error(interval: Interval) -> float:
    """The standard error behind a 95% interval, taken as a normal one."""
    return (interval[1] - interval[0]) / (2 * _Z)


def row_intervals(row: Row, columns: Sequence[Column], by_task: Mapping[str, Interval]) -> dict[str, Interval]:
    """The 95% intervals of a row's cells and means, by column name, category and "avg".

    A mean without the interval of one of its tasks has none.

    Args:
        row: With means over the columns.
        columns: Which columns its means are over.
        by_task: The intervals of the tasks' scores.
    """
    variances = column_variances(row, columns, by_task)
    found: dict[str, Interval] = {}
    for column in columns:
        if column.name in variances:
            one = by_task[column.tasks[0]] if len(column.tasks) == 1 else None
            found[column.name] = one or around(row.cells[column.name].score or 0.0, variances[column.name])
    means: list[float] = []
    for category in CATEGORIES:
        own = [column.name for column in columns if column.category == category]
        mean = row.means.get(category)
        if mean is None or mean.value is None or not variances.keys() >= set(own):
            continue
        means.append(mean_variance([variances[name] for name in own]))
        found[category] = around(mean.value, means[-1])
    if row.average is not None and row.average.value is not None and len(means) == len(row.means):
        found["avg"] = around(row.average.value, mean_variance(means))
    return found


def column_variances(row: Row, columns: Sequence[Column], by_task: Mapping[str, Interval]) -> dict[str, float]:
    """The variances of a row's scores by column name; a column is left out that lacks its score or an interval.

    Args:
        row: With or without means.
        columns: Which.
        by_task: The intervals of the tasks' scores.
    """
    variances: dict[str, float] = {}
    for column in columns:
        parts = [by_task[task] for task in column.tasks if task in by_task]
        cell = row.cells.get(column.name)
        if len(parts) == len(column.tasks) and cell is not None and cell.score is not None:
            variances[column.name] = mean_variance([standard_error(part) ** 2 for part in parts])
    return variances


def mean_variance(variances: Sequence[float]) -> float:
    """The variance of the mean of independent scores."""
    return sum(variances) / len(variances) ** 2


def around(value: float, variance: float) -> Interval:
    """The 95% interval of a score."""
    half = _Z * math.sqrt(variance)
    return value - half, value + half


def places(values: Sequence[float], intervals: Sequence[Interval | None]) -> list[tuple[int, int]]:
    """First and last place of each model's group, from 1.

    A group begins with the best model that is in no group yet, and holds those after it that do not differ from it
    significantly (two-sided z-test at 5%, unadjusted), up to the first that does. Without an interval of both, only
    equal values are together.

    Args:
        values: Descending.
        intervals: The 95% interval of each; None where there is none.
    """
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(values):
        end = start + 1
        while end < len(values) and not _differ(start, end, values, intervals):
            end += 1
        found += [(start + 1, end)] * (end - start)
        start = end
    return found


def _differ(one: int, two: int, values: Sequence[float], intervals: Sequence[Interval | None]) -> bool:
    first, second = intervals[one], intervals[two]
    if first is None or second is None:
        return values[one] != values[two]
    error = math.hypot(standard_error(first), standard_error(second))
    return values[one] - values[two] > _Z * error
