"""Checks of a submission's tasks against the suites as they are installed: the right task, the whole of it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_ita.results.comparable import FEWEST
from lm_eval_ita.results.records import BOARD_SUITES, TaskRecord
from lm_eval_ita.results.reference import Reference, document_count, references
from lm_eval_ita.results.submission_figures import figure_problems, interval_problem
from lm_eval_ita.results.submission_json import Problem, shown
from lm_eval_ita.results.submission_records import Submission

__all__ = ["setting_problems", "task_problems"]

_AGAIN = "make the file again with `lm-eval-ita submit`"
_RUN_AGAIN = "evaluate again with `lm-eval-ita run`"
_NUMBERS = (bool, int, float, type(None))
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def setting_problems(submission: Submission) -> Iterator[Problem]:
    """What keeps tasks from being compared, whatever their figures are."""
    if not submission.run.tasks:
        yield Problem("run.tasks", "holds no task", _AGAIN)
    for name, record in submission.run.tasks.items():
        reference = references().get(name)
        if reference is None or reference.suite not in BOARD_SUITES:
            message = "is no task of this version's suites"
            yield Problem(_field(name), message, "leave it out, or update lm-eval-ita")
        else:
            yield from list(_settings(_field(name), record, reference)) or _whole(_field(name), record, reference)


def task_problems(submission: Submission) -> Iterator[Problem]:
    """What is wrong with the tasks and their intervals."""
    found = list(setting_problems(submission))
    yield from found
    if found:
        return
    for name, record in submission.run.tasks.items():
        yield from figure_problems(_field(name), record, references()[name])
    for name, bounds in submission.intervals.items():
        own = submission.run.tasks.get(name)
        why = "is no task of this submission" if own is None else interval_problem(own, *bounds)
        if why is not None:
            yield Problem(f"intervals.{shown(name)}", why, _AGAIN)


def _field(name: str) -> str:
    return f"run.tasks.{shown(name)}"


def _settings(field: str, record: TaskRecord, reference: Reference) -> Iterator[Problem]:
    """What differs from the task as it is installed."""
    if record.version != reference.version:
        given = "missing" if record.version is None else f"'{shown(record.version)}'"
        message = f"is {given}; this version of the suite has '{reference.version}'"
        yield Problem(f"{field}.version", message, f"{_RUN_AGAIN} of this version")
    if record.shots != reference.shots:
        message = f"is {record.shots}; the task has {reference.shots}"
        yield Problem(f"{field}.shots", message, f"{_RUN_AGAIN} without --num_fewshot")
    if record.options:
        message = f"holds {shown(min(record.options))}: figures of own prompts compare with nothing"
        yield Problem(f"{field}.options", message, f"{_RUN_AGAIN} without it")
    fixed: Mapping[str, Any] = {
        "name": reference.task,
        "task": reference.task,
        "layout": "lm_eval_ita",
        "suite": reference.suite,
        "category": reference.category,
        "title": reference.title,
        "oneshot": reference.oneshot,
        "text_origin": reference.origin,
        "primary_metric": reference.metric,
        "chance_level": reference.chance,
        "deviations": (),
        "defect": None,
        "samples": None,
    }
    for name, value in fixed.items():
        if getattr(record, name) != value:
            message = "does not belong here" if value in ((), None) else f"is not '{value}', as in the suite"
            yield Problem(f"{field}.{name}", message, _AGAIN)
    yield from _generation(field, record)


def _generation(field: str, record: TaskRecord) -> Iterator[Problem]:
    if record.task_hash is not None and not re.fullmatch(r"[0-9a-f]{64}", record.task_hash):
        yield Problem(f"{field}.task_hash", "is no SHA-256", _AGAIN)
    if record.fewshot_seed is not None and not 0 <= record.fewshot_seed < 1 << 63:
        yield Problem(f"{field}.fewshot_seed", "is no seed", _AGAIN)
    for name, value in record.gen_kwargs.items():
        if name == "until":
            message = "is not the task's own: other stops give other answers"
            yield Problem(f"{field}.gen_kwargs.until", message, f"{_RUN_AGAIN} with the task's")
        elif not _NAME.fullmatch(name) or not isinstance(value, _NUMBERS) or len(record.gen_kwargs) > 20:
            message = "is no setting of generation that is a number or a truth value"
            yield Problem(f"{field}.gen_kwargs.{shown(name)}", message, _RUN_AGAIN)
    scorer = record.breakdowns.scorer
    if len(scorer) > 20 or any(isinstance(value, list) for value in scorer.values()):
        yield Problem(f"{field}.breakdowns.scorer", "is no description of a scorer model", _AGAIN)


def _whole(field: str, record: TaskRecord, reference: Reference) -> Iterator[Problem]:
    """What keeps the task from being evaluated on all of its documents."""
    if record.data not in ("catalogue", "folder"):
        message = f"is {record.data} data, which compares with nothing"
        yield Problem(f"{field}.data", message, f"{_RUN_AGAIN} on the real data set (`lm-eval-ita data fetch`)")
    count = document_count(reference)
    whole = f"{count}" if count is not None else f"at least {FEWEST}"
    total, evaluated = record.n_total, record.n_evaluated
    if record.limit is not None:
        message, mend = f"is {record.limit:g}: only a part was evaluated", f"{_RUN_AGAIN} without --limit"
        yield Problem(f"{field}.limit", message, mend)
    elif total is None or (total != count if count is not None else total < FEWEST):
        message = f"is {total}; the data set has {whole} documents"
        yield Problem(f"{field}.n_total", message, f"{_RUN_AGAIN} on the whole data set")
    elif evaluated != total:
        message = f"is {evaluated}; the data set has {total} documents"
        yield Problem(f"{field}.n_evaluated", message, f"{_RUN_AGAIN} on the whole data set")
