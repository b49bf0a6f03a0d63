"""Thousands of models' figures in one suite as arrays: means, order, places and the best of each column. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lm_eval_ita.leaderboard.brief import DOUBTFUL, SOUND, SuiteFigures
from lm_eval_ita.results.suite import CATEGORIES, Column

__all__ = ["Figures", "measured_figures", "stacked"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Figures:
    """Figures by what a table can be sorted by: names of columns, categories, "avg".

    Attributes:
        values: Of each model; NaN where it is missing.
        sound: Whether a model's figure is there and comparable.
        known: How many of the columns each model has a figure of.
        variances: Of the average; NaN where it has no interval.
    """

    values: Mapping[str, Floats]
    sound: Mapping[str, Bools]
    known: NDArray[np.int64]
    variances: Floats

    def taken(self, order: NDArray[np.intp]) -> "Figures":
        """The figures of some models, in this order."""
        return Figures(
            {key: own[order] for key, own in self.values.items()},
            {key: own[order] for key, own in self.sound.items()},
            self.known[order],
            self.variances[order],
        )


def measured_figures(
    figures: Sequence[SuiteFigures], all_columns: Sequence[Column], columns: Sequence[Column], *, with_means: bool
) -> Figures:
    """The figures of models over some columns.

    Args:
        figures: A model each, in the order of `all_columns`.
        all_columns: The suite's.
        columns: Those of them that means are over.
        with_means: Whether the suite has means.
    """
    chosen = [all_columns.index(column) for column in columns]
    shape = (len(figures), len(all_columns))
    scores = np.array([own.scores for own in figures], dtype=np.float64).reshape(shape)[:, chosen]
    variances = np.array([own.variances for own in figures], dtype=np.float64).reshape(shape)[:, chosen]
    marks = np.array([own.marks for own in figures], dtype=np.int8).reshape(shape)[:, chosen]
    is_there = ~np.isnan(scores)
    values = {column.name: scores[:, i] for i, column in enumerate(columns)}
    sound = {column.name: (marks[:, i] == SOUND) & is_there[:, i] for i, column in enumerate(columns)}
    missing = np.full(len(figures), np.nan)
    if not with_means:
        return Figures(values, sound, is_there.sum(axis=1), missing)
    means, errors = [], []
    for category in CATEGORIES:
        own = [i for i, column in enumerate(columns) if column.category == category]
        if own:
            means.append(_mean(scores[:, own]))
            errors.append(_mean(variances[:, own]) / len(own))
            values[category] = means[-1]
            sound[category] = ~np.isnan(means[-1]) & ~(marks[:, own] == DOUBTFUL).any(axis=1)
    values["avg"] = _mean(np.stack(means, axis=1)) if means else missing
    sound["avg"] = ~np.isnan(values["avg"]) & ~(marks == DOUBTFUL).any(axis=1)
    error = _mean(np.stack(errors, axis=1)) / len(errors) if errors else missing
    return Figures(values, sound, is_there.sum(axis=1), error)


def _mean(parts: Floats) -> Floats:
    """The mean of each row, NaN where a part is; summed from left to right, as for one row."""
    total: Floats = np.zeros(len(parts))
    for column in parts.T:
        total = total + column
    return np.divide(total, parts.shape[1])


def stacked(first: Figures, second: Figures) -> Figures:
    """The models of both, which have the same columns."""
    return Figures(
        {key: np.concatenate([own, second.values[key]]) for key, own in first.values.items()},
        {key: np.concatenate([own, second.sound[key]]) for key, own in first.sound.items()},
        np.concatenate([first.known, second.known]),
        np.concatenate([first.variances, second.variances]),
    )
