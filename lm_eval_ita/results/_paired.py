"""Two models' answers to the same documents, as statistics that can be resampled together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.records import TaskRecord, as_number
from lm_eval_ita.results.samples import iter_samples
from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts
from lm_eval_ita.stats.statistic import Statistic, confusion_statistic, mean

__all__ = ["Answers", "Key", "NoScoreByDocumentError", "Pair", "aligned", "answers_of", "paired", "statistic"]

# The document, and how many equal ones came before it.
Key = tuple[str, int]
_OF_COUNTS = {"f1_macro": f1_macro_from_counts, "mcc": mcc_from_counts}


class NoScoreByDocumentError(UserError):
    """The metric is one of a scorer model, over all documents together."""


@dataclass(frozen=True)
class Answers:
    """What one run scored, document by document.

    Attributes:
        values: By document: a number, None where missing, (gold, chosen, number of labels), or a text to be scored.
        words: By document, for ItaP-AT: side and target word.
    """

    values: dict[Key, Any]
    words: dict[Key, tuple[str, str]]


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


def answers_of(record: TaskRecord, *, by_word: bool = False) -> Answers:
    """Stream a task's samples, keeping the primary metric of each document.

    Args:
        record: The task.
        by_word: ItaP-AT: name documents by side, word and instruction, which standard and one-shot prompts share.

    Raises:
        UserError: There are no samples, or they hold no value of the metric for each document.
    """
    if record.samples is None:
        raise UserError("no samples: run it with --log_samples")
    field = "bias_score" if record.suite == "itapat" else "score" if record.suite == "itaeval" else None
    field = field or ("score" if record.layout == "lm_eval_ita" else record.primary_metric)
    values: dict[Key, Any] = {}
    words: dict[Key, tuple[str, str]] = {}
    seen: dict[str, int] = {}
    for number, sample in enumerate(iter_samples(record.samples), start=1):
        doc = sample["doc"]
        name = _by_word(doc) if by_word else sample.get("doc_hash")
        if not isinstance(name, str) or not isinstance(doc, dict) or field not in sample:
            raise UserError(f"holds no doc_hash or no {field}", file=record.samples, line=number)
        key = (name, seen.get(name, 0))
        seen[name] = key[1] + 1
        values[key] = _value(sample[field], record.samples, number)
        if record.suite == "itapat":
            words[key] = (str(doc.get("side")), str(doc.get("word")))
    return Answers(values, words)


def _by_word(doc: Any) -> str | None:
    if not isinstance(doc, dict):
        return None
    return f"{doc.get('side')}\x00{doc.get('word')}\x00{doc.get('instruction_id')}"


def _value(value: object, path: Path, line: int) -> Any:
    if isinstance(value, list):
        gold, chosen, labels = (*value, None, None, None)[:3]
        whole = all(isinstance(part, int) and not isinstance(part, bool) for part in (gold, labels))
        if len(value) != 3 or not whole or not (chosen is None or isinstance(chosen, int)):
            raise UserError("holds a score that is neither a number nor a choice", file=path, line=line)
        return (gold, chosen, labels)
    # Summaries and rewritings are logged as texts: their scores come from a scorer model, over all of them.
    return value if isinstance(value, str) else as_number(value)


def aligned(first: Answers, second: Answers) -> list[Key]:
    """The documents of both, in the first's order.

    Raises:
        UserError: The two have different documents; says how many.
    """
    only_first, only_second = first.values.keys() - second.values.keys(), second.values.keys() - first.values.keys()
    if only_first or only_second:
        raise UserError(f"different documents: {len(only_first)} only in A, {len(only_second)} only in B")
    return list(first.values)


def paired(record: TaskRecord, first: Answers, second: Answers) -> Pair:
    """Make the statistics of a task from two runs over the same documents.

    Raises:
        NoScoreByDocumentError: The metric has values for all documents together only.
        UserError: The documents differ, or the values are of two kinds.
    """
    keys = aligned(first, second)
    one, two = ([answers.values[key] for key in keys] for answers in (first, second))
    is_choice = _are_choices([*one, *two])
    words = [first.words[key] for key in keys if key in first.words]
    known = [value for value in (*one, *two) if value is not None]
    return Pair(
        first=_choices(record, one) if is_choice else _mean(one),
        second=_choices(record, two) if is_choice else _mean(two),
        clusters=tuple(words) if words else None,
        strata=tuple(side for side, _ in words) if words else None,
        binary=not is_choice and not words and set(known) <= {0.0, 1.0},
        equal=one == two,
        first_values=tuple(one),
        second_values=tuple(two),
    )


def statistic(record: TaskRecord, values: Sequence[Any]) -> Statistic:
    """Make the statistic of a task from one run's values by document.

    Raises:
        NoScoreByDocumentError, UserError: As `paired`.
    """
    return _choices(record, values) if _are_choices(values) else _mean(values)


def _are_choices(values: Sequence[Any]) -> bool:
    """Whether the values are choices of a label, not numbers."""
    if any(isinstance(value, str) for value in values):
        raise NoScoreByDocumentError("its scores by document come from a scorer model and are not in the samples")
    kinds = {isinstance(value, tuple) for value in values if value is not None}
    if len(kinds) > 1:
        raise UserError("numbers and choices are mixed in the samples")
    return kinds == {True}


def _mean(values: Sequence[float | None]) -> Statistic:
    return mean(np.array([np.nan if value is None else value for value in values], dtype=float))


def _choices(record: TaskRecord, values: Sequence[Any]) -> Statistic:
    function = _OF_COUNTS.get(record.primary_metric or "")
    if function is None:
        raise UserError(f"{record.primary_metric} of choices cannot be compared")
    if None in values:
        raise UserError("a document has no choice in the samples")
    golds = [gold for gold, _, _ in values]
    preds = [-1 if chosen is None else chosen for _, chosen, _ in values]
    try:
        return confusion_statistic(golds, preds, max(labels for _, _, labels in values), function)
    except ValueError as error:
        raise UserError(f"the samples hold a label that the task has not ({error})") from error
