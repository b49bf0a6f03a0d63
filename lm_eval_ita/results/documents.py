"""A submission's figures by document: made from samples, and turned back into what `compare` pairs.

Documents lie in the order of their names, so that two submissions of one data set fit together position by position.
A document is named by the harness's hash of it; a prompt of ItaP-AT by side, word and instruction, which standard and
one-shot prompts share and which need not be stored: the suite knows them.
"""

import functools
import hashlib
import math
from collections.abc import Iterable, Iterator
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.answers import Answers, Key, answers_of, prompt_name, statistic_of
from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.results.reference import document_count, references
from lm_eval_ita.results.submission_json import Problem
from lm_eval_ita.results.submission_records import Documents, Submission, TaskDocuments
from lm_eval_ita.stats.resampling import value_of

__all__ = ["answers_from", "document_problems", "task_documents"]

_AGAIN = "make the file again with `lm-eval-ita submit`"
_MOST_LABELS = 20


def task_documents(record: TaskRecord) -> TaskDocuments | None:
    """A task's figures by document, from its samples.

    Returns:
        None where a scorer model judges all documents together, or a figure is that of no document.

    Raises:
        UserError: There are no samples, or they hold no figure for each document.
    """
    itapat = record.suite == "itapat"
    values = answers_of(record, by_word=itapat).values
    ordered = {key: values[key] for key in sorted(values)}
    kinds = {type(value) for value in ordered.values()}
    sha = _hash(ordered)
    if str in kinds or (tuple in kinds and kinds != {tuple}):
        return None
    if tuple in kinds:
        golds, chosen, labels = zip(*ordered.values(), strict=True)
        picked = tuple(-1 if number is None else number for number in chosen)
        return TaskDocuments(documents_sha=sha, golds=golds, chosen=picked, labels=max(labels))
    return TaskDocuments(documents_sha=sha, values=tuple(ordered.values()))


def answers_from(task: str, documents: TaskDocuments) -> Answers:
    """What `results._paired.paired` takes of one of the two sides; different documents do not pair.

    Args:
        task: Its name; of ItaP-AT it says the target words.
        documents: Its figures.
    """
    values: list[Any] = list(documents.values)
    if documents.golds:
        chosen = [None if number < 0 else number for number in documents.chosen]
        values = [(gold, pick, documents.labels) for gold, pick in zip(documents.golds, chosen, strict=True)]
    keys: list[Key] = [(documents.documents_sha, position) for position in range(len(values))]
    words = _words(task) if references()[task].suite == "itapat" else ()
    return Answers(dict(zip(keys, values, strict=True)), dict(zip(keys, words, strict=False)))


def document_problems(submission: Submission, documents: Documents) -> Iterator[Problem]:
    """What keeps figures by document from being those of their submission, whose tasks are known to be right."""
    for name, own in documents.tasks.items():
        field = f"documents.tasks.{name}"
        record = submission.run.tasks.get(name)
        if record is None:
            yield Problem(field, "is no task of this submission", _AGAIN)
            continue
        problem = _shape(record, own) or _agreement(record, own)
        if problem:
            yield Problem(f"{field}.{problem[0]}", problem[1], _AGAIN)


def _shape(record: TaskRecord, own: TaskDocuments) -> tuple[str, str] | None:
    count = document_count(references()[record.task]) or record.n_evaluated
    if own.values and (own.golds or own.chosen or own.labels):
        return "values", "stands beside golds and chosen; one of the two belongs there"
    if own.golds or own.chosen or own.labels:
        if record.primary_metric not in ("f1_macro", "mcc"):
            return "golds", f"{record.primary_metric} has one value a document"
        if not 2 <= own.labels <= _MOST_LABELS:
            return "labels", f"is not between 2 and {_MOST_LABELS}"
        if not len(own.golds) == len(own.chosen) == count:
            return "golds", f"has {len(own.golds)} documents, and chosen {len(own.chosen)}; the task has {count}"
        if not all(0 <= gold < own.labels for gold in own.golds):
            return "golds", f"holds a number that is not between 0 and {own.labels - 1}"
        if not all(-1 <= pick < own.labels for pick in own.chosen):
            return "chosen", f"holds a number that is not between -1 and {own.labels - 1}"
        return None
    if record.primary_metric in ("f1_macro", "mcc"):
        return "golds", "is missing"
    if len(own.values) != count:
        return "values", f"has {len(own.values)} documents; the task has {count}"
    lowest = -1.0 if record.suite == "itapat" else 0.0
    if not all(value is None or lowest <= value <= 1.0 for value in own.values):
        return "values", f"holds a number that is not between {lowest:g} and 1"
    return None


def _agreement(record: TaskRecord, own: TaskDocuments) -> tuple[str, str] | None:
    if record.suite == "itapat":
        if own.documents_sha != _hash(_prompts(record.task)):
            return "documents_sha", "these are not the test's prompts"
        if not set(own.values) <= {-1.0, 0.0, 1.0}:
            return "values", "holds a number other than -1, 0 and 1"
    shown = record.primary_value if record.suite == "itapat" else record.score
    try:
        computed = value_of(statistic_of(record, list(answers_from(record.task, own).values.values())))
    except UserError as error:
        return "values", str(error)
    if shown is None or not math.isclose(computed, shown, abs_tol=1e-6):
        return (
            "values",
            f"gives {computed:.6g}, but the task's figure is {'missing' if shown is None else f'{shown:.6g}'}",
        )
    return None


def _hash(keys: Iterable[Key]) -> str:
    text = "\n".join(f"{name}\t{number}" for name, number in keys)
    return hashlib.sha256(text.encode()).hexdigest()


def _words(task: str) -> list[tuple[str, str]]:
    """Side and word of each prompt, in the order of their names."""
    return [(side, word) for side, word, _ in (name.split("\x00") for name, _ in _prompts(task))]


@functools.cache
def _prompts(task: str) -> tuple[Key, ...]:
    """The names of a test's prompts, in order."""
    from lm_eval_ita.itapat import build_rows, find_test

    subset, _, number = task.removeprefix("itapat_").removeprefix("oneshot_").partition("_")
    return tuple(sorted((prompt_name(row), 0) for row in build_rows(find_test(subset, number))))
