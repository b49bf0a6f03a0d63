"""Two models' answers to the same documents, as statistics that can be resampled together."""

from dataclasses import dataclass
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.answers import Answers, NoScoreByDocumentError, aligned, statistic_of
from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.stats.statistic import Statistic

__all__ = ["Pair", "paired"]


@dataclass(frozen=True)
class Pair:
    """Two runs of a task over the same documents in one order.

    Attributes:
        first, second: The primary metric of each.
        clusters, strata: ItaP-AT: word and side of each answer; None elsewhere, where each document is its own.
        binary: Whether every document is right or wrong, so that McNemar's test applies.
        equal: Whether every document is scored alike.
        first_values, second_values: What the statistics are made of.
    """

    first: Statistic
    second: Statistic
    clusters: tuple[tuple[str, str], ...] | None
    strata: tuple[str, ...] | None
    binary: bool
    equal: bool
    first_values: tuple[Any, ...]
    second_values: tuple[Any, ...]


def paired(record: TaskRecord, first: Answers, second: Answers) -> Pair:
    """Make the statistics of a task from two runs over the same documents.

    Raises:
        NoScoreByDocumentError: The metric has values for all documents together only.
        UserError: The documents differ, or the values are of two kinds.
    """
    keys = aligned(first, second)
    one, two = ([answers.values[key] for key in keys] for answers in (first, second))
    if any(isinstance(value, str) for value in (*one, *two)):
        raise NoScoreByDocumentError("its scores by document come from a scorer model and are not in the samples")
    known = [value for value in (*one, *two) if value is not None]
    if len({isinstance(value, tuple) for value in known}) > 1:
        raise UserError("numbers and choices are mixed in the samples")
    words = [first.words[key] for key in keys if key in first.words]
    is_choice = any(isinstance(value, tuple) for value in known)
    return Pair(
        first=statistic_of(record, one),
        second=statistic_of(record, two),
        clusters=tuple(words) if words else None,
        strata=tuple(side for side, _ in words) if words else None,
        binary=not is_choice and not words and set(known) <= {0.0, 1.0},
        equal=one == two,
        first_values=tuple(one),
        second_values=tuple(two),
    )
