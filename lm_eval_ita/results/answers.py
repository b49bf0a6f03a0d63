"""What a run scored, document by document, as statistics that can be resampled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.records import TaskRecord, as_number
from lm_eval_ita.results.samples import iter_samples
from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts
from lm_eval_ita.stats.statistic import Statistic, confusion_statistic, mean

__all__ = ["Answers", "Key", "NoScoreByDocumentError", "aligned", "answers_of", "prompt_name", "statistic_of"]

# The document, and how many equal ones came before it.
Key = tuple[str, int]
_OF_COUNTS = {"f1_macro": f1_macro_from_counts, "mcc": mcc_from_counts}


class NoScoreByDocumentError(UserError):
    """The metric has a value for all documents together only: one of a scorer model, or a mean over prompts."""


@dataclass(frozen=True)
class Answers:
    """What one run scored, document by document.

    Attributes:
        values: By document: a number, None where missing, (gold, chosen, number of labels), or a text to be scored.
        words: By document, for ItaP-AT: side and target word.
    """

    values: dict[Key, Any]
    words: dict[Key, tuple[str, str]]


def answers_of(record: TaskRecord, *, by_word: bool = False) -> Answers:
    """Stream a task's samples, keeping the primary metric of each document.

    Args:
        record: The task.
        by_word: ItaP-AT: name documents by side, word and instruction, which standard and one-shot prompts share.

    Raises:
        NoScoreByDocumentError: The task has several prompts.
        UserError: There are no samples, or they hold no value of the metric for each document.
    """
    if record.prompts:
        raise NoScoreByDocumentError(
            "its score is a mean over several prompts: `lm-eval-ita summary` shows their spread"
        )
    if record.samples is None:
        raise UserError("no samples: run it with --log_samples")
    field = "bias_score" if record.suite == "itapat" else "score" if record.suite == "itaeval" else None
    field = field or ("score" if record.layout == "lm_eval_ita" else record.primary_metric)
    values: dict[Key, Any] = {}
    words: dict[Key, tuple[str, str]] = {}
    seen: dict[str, int] = {}
    for number, sample in enumerate(iter_samples(record.samples), start=1):
        doc = sample["doc"]
        name = prompt_name(doc) if by_word else sample.get("doc_hash")
        if not isinstance(name, str) or not isinstance(doc, dict) or field not in sample:
            raise UserError(f"holds no doc_hash or no {field}", file=record.samples, line=number)
        key = (name, seen.get(name, 0))
        seen[name] = key[1] + 1
        values[key] = _value(sample[field], record.samples, number)
        if record.suite == "itapat":
            words[key] = (str(doc.get("side")), str(doc.get("word")))
    return Answers(values, words)


def prompt_name(doc: Any) -> str:
    """The name of a prompt of ItaP-AT that its standard and its one-shot version share."""
    if not isinstance(doc, Mapping):
        return ""
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


def statistic_of(record: TaskRecord, values: Sequence[Any]) -> Statistic:
    """The primary metric over documents, from their values as `answers_of` reads them.

    Raises:
        NoScoreByDocumentError: The metric has values for all documents together only.
        UserError: The values are of two kinds, or do not fit the metric.
    """
    if any(isinstance(value, str) for value in values):
        raise NoScoreByDocumentError("its scores by document come from a scorer model and are not in the samples")
    choices = {isinstance(value, tuple) for value in values if value is not None}
    if len(choices) > 1:
        raise UserError("numbers and choices are mixed in the samples")
    return _choices(record, values) if choices == {True} else _mean(values)


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
