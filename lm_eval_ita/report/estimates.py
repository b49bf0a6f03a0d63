"""Intervals of scores and averages, and which models of a table are tied, from logged samples.

Intervals of single tasks are bootstrap intervals (`stats.bootstrap`); ItaP-AT's are those of the run, over words. Means
over tasks are sums of many documents, and take normal intervals from jackknife covariances. Ties come from paired
z-tests on the same documents, Holm-adjusted over the pairs of a column; `lm-eval-ita compare` has the exact tests.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.answers import Answers, NoScoreByDocumentError, answers_of, statistic_of
from lm_eval_ita.results.suite import CATEGORIES, Cell, Column, Row, SuiteTable
from lm_eval_ita.stats.bootstrap import bootstrap
from lm_eval_ita.stats.jackknife import covariance, z_test
from lm_eval_ita.stats.multiplicity import holm
from lm_eval_ita.stats.resampling import value_of
from lm_eval_ita.stats.statistic import Statistic
from lm_eval_ita.stats.ties import tie_groups, tied_by_p_values

__all__ = ["Estimate", "Estimates", "estimates"]

_Floats = npt.NDArray[np.float64]
# Fewer documents than these say too little for a test, or for an interval.
_FEWEST = 30
_FEWEST_DRAWN = 10
_Z = 1.959963984540054  # of a 95% interval


@dataclass(frozen=True)
class Estimate:
    """A figure with its uncertainty.

    Attributes:
        value: The score; None where missing.
        low, high: Its 95% interval; None where there are no samples to make one from.
        letters: Its groups of ties: models that share a letter are not told apart. Empty where nothing was tested.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    letters: str = ""


@dataclass(frozen=True)
class Estimates:
    """All intervals of one table.

    Attributes:
        cells: By row of the table and column name.
        means: By row and category; only means that are there.
        averages: By row; only averages that are there.
        remarks: Why some have no interval, one line each.
    """

    cells: Mapping[tuple[int, str], Estimate] = field(default_factory=dict)
    means: Mapping[tuple[int, str], Estimate] = field(default_factory=dict)
    averages: Mapping[int, Estimate] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Scored:
    """One column's samples.

    Attributes:
        statistics: By row.
        covariances: Shape (rows, rows): of the rows' scores; NaN where a pair shares no documents.
    """

    statistics: Mapping[int, Statistic]
    covariances: _Floats


def estimates(table: SuiteTable, *, resamples: int = 5_000) -> Estimates:
    """Read the samples of a table's runs, one column at a time, and estimate what they allow."""
    remarks: dict[str, None] = {}
    cells: dict[tuple[int, str], Estimate] = {}
    spreads: dict[str, _Floats] = {}
    for column in table.columns:
        own = {i: row.cells[column.name] for i, row in enumerate(table.rows) if column.name in row.cells}
        if table.suite == "itapat":
            cells |= {(i, column.name): _of_words(cell) for i, cell in own.items()}
            continue
        scored = _scored(column, own, len(table.rows), remarks)
        spreads[column.name] = scored.covariances
        letters = _letters(own, scored)
        for i, cell in own.items():
            low, high = _interval(cell, scored.statistics.get(i), resamples)
            cells[i, column.name] = Estimate(cell.score, low, high, letters.get(i, ""))
    if table.suite == "itapat":
        return Estimates(cells)
    means, averages = _means(table, spreads)
    return Estimates(cells, means, averages, tuple(remarks))


def _of_words(cell: Cell) -> Estimate:
    metrics = cell.records[0].metrics if cell.records else {}
    return Estimate(cell.score, metrics.get("bias_score_ci_low"), metrics.get("bias_score_ci_high"))


def _scored(column: Column, cells: Mapping[int, Cell], rows: int, remarks: dict[str, None]) -> _Scored:
    found: dict[int, tuple[Answers, Statistic]] = {}
    for i, cell in cells.items():
        if cell.score is None or len(cell.records) != 1 or cell.records[0].samples is None:
            continue
        record = cell.records[0]
        try:
            answers = answers_of(record)
            statistic = statistic_of(record, list(answers.values.values()))
        except NoScoreByDocumentError:
            continue  # the file itself may say how far its mean is to be trusted
        except UserError as error:
            remarks[f"{column.name}: no interval: {error}"] = None
            continue
        if math.isclose(value_of(statistic), cell.score, abs_tol=1e-6):
            found[i] = answers, statistic
        else:
            remarks[f"{column.name}: no interval: {record.samples}: other scores than the file's: rescored?"] = None
    spread = _apart(cells, rows)
    for group in _same_documents({i: answers for i, (answers, _) in found.items()}):
        first = found[group[0]][0]
        ordered = [statistic_of(cells[i].records[0], [found[i][0].values[key] for key in first.values]) for i in group]
        spread[np.ix_(group, group)] = covariance(ordered)
    return _Scored({i: statistic for i, (_, statistic) in found.items()}, spread)


def _same_documents(answers: Mapping[int, Answers]) -> list[list[int]]:
    groups: dict[frozenset[Any], list[int]] = {}
    for i, own in answers.items():
        groups.setdefault(frozenset(own.values), []).append(i)
    return list(groups.values())


def _apart(cells: Mapping[int, Cell], rows: int) -> _Floats:
    """Variances of figures that the samples do not explain, taken as independent of the other models'."""
    spread = np.full((rows, rows), math.nan)
    errors = {i: error for i, cell in cells.items() if (error := _standard_error(cell)) is not None}
    own = list(errors)
    spread[np.ix_(own, own)] = np.diag([errors[i] ** 2 for i in own])
    return spread


def _standard_error(cell: Cell) -> float | None:
    """What the results file itself says of a score's uncertainty."""
    if cell.score is None or len(cell.records) != 1:
        return None
    record = cell.records[0]
    known = record.stderrs.get("score", record.stderrs.get(record.primary_metric or ""))
    if known is not None:
        return known
    if record.primary_metric == "neutral_rate" and (record.n_evaluated or 0) > 1:
        return math.sqrt(cell.score * (1 - cell.score) / ((record.n_evaluated or 0) - 1))
    # The newspapers are strata of the documents.
    parts = [(part.get("n"), part.get("bertscore_se")) for part in record.breakdowns.newspapers.values()]
    whole = [(n, error) for n, error in parts if n is not None and error is not None]
    if not parts or len(whole) < len(parts):
        return None
    return math.sqrt(sum((n * error) ** 2 for n, error in whole)) / sum(n for n, _ in whole)


def _interval(cell: Cell, statistic: Statistic | None, resamples: int) -> tuple[float | None, float | None]:
    if statistic is not None:
        found = bootstrap(statistic, resamples=resamples).interval()
        # An interval without width says that nothing varied in the documents drawn, not that the score is exact.
        is_width = math.isfinite(found.low) and found.low < found.high and len(statistic.row_of) >= _FEWEST_DRAWN
        return (found.low, found.high) if is_width else (None, None)
    error = _standard_error(cell)
    if cell.score is None or error is None:
        return None, None
    return cell.score - _Z * error, cell.score + _Z * error


def _letters(cells: Mapping[int, Cell], scored: _Scored) -> dict[int, str]:
    """Tie groups of one column, where at least two models answered the same documents."""
    rows = [i for i in scored.statistics if len(scored.statistics[i].row_of) >= _FEWEST]
    values = np.array([cells[i].score for i in rows], dtype=np.float64)
    return _grouped(rows, values, scored.covariances[np.ix_(rows, rows)])


def _grouped(rows: Sequence[int], values: _Floats, spread: _Floats) -> dict[int, str]:
    """Letters by row, for the largest set of rows with common documents; empty where there are not two of them."""
    common = np.isfinite(spread)
    if not len(rows) or common.sum(axis=1).max() < 2:
        return {}
    own = np.flatnonzero(common[common.sum(axis=1).argmax()])
    p_values = z_test(values[own], spread[np.ix_(own, own)])
    upper = np.triu_indices(len(own), 1)
    adjusted = np.ones_like(p_values)
    adjusted[upper] = holm(p_values[upper])
    adjusted.T[upper] = adjusted[upper]
    groups = tie_groups(values[own], tied_by_p_values(adjusted))
    return {rows[int(i)]: letters for i, letters in zip(own, groups.letters, strict=True)}


def _means(
    table: SuiteTable, spreads: Mapping[str, _Floats]
) -> tuple[dict[tuple[int, str], Estimate], dict[int, Estimate]]:
    means: dict[tuple[int, str], Estimate] = {}
    total = np.zeros((len(table.rows),) * 2)
    for category in CATEGORIES:
        names = [column.name for column in table.columns if column.category == category]
        # Tasks have documents of their own, so their variances add up.
        spread = sum((spreads[name] for name in names), np.zeros_like(total)) / max(1, len(names)) ** 2
        total += spread / len(CATEGORIES) ** 2
        values = [row.means[category].value if category in row.means else None for row in table.rows]
        means |= {(i, category): estimate for i, estimate in _of_means(table.rows, values, spread).items()}
    averages = [None if row.average is None else row.average.value for row in table.rows]
    return means, _of_means(table.rows, averages, total)


def _of_means(rows: Sequence[Row], values: Sequence[float | None], spread: _Floats) -> dict[int, Estimate]:
    there = [i for i, value in enumerate(values) if value is not None]
    own = [i for i in there if math.isfinite(spread[i, i])]
    letters = _grouped(own, np.array([values[i] for i in own], dtype=np.float64), spread[np.ix_(own, own)])
    found = {}
    for i in there:
        value = values[i]
        assert value is not None
        half = _Z * math.sqrt(spread[i, i]) if i in own else None
        low, high = (None, None) if half is None else (value - half, value + half)
        found[i] = Estimate(value, low, high, letters.get(i, ""))
    return found
