"""The one validator of submissions: for the command, the app, the store and a repository's CI. Pure.

A submission is data from a stranger. What passes is plain text and numbers of bounded size, about known tasks, measured
on all their documents, and at one with itself; everything else is refused, by field and with the mend.
"""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from lm_eval_ita.results.submission_facts import facts_problems, run_problems
from lm_eval_ita.results.submission_json import BadJsonError, Problem, read_json
from lm_eval_ita.results.submission_records import (
    SCHEMA_VERSION,
    Documents,
    Submission,
    documents_hash,
    submission_hash,
)
from lm_eval_ita.results.submission_tasks import task_problems
from lm_eval_ita.results.submission_text import path_of, text_problems

__all__ = ["Checked", "Problem", "validate"]

_AGAIN = "make the file again with `lm-eval-ita submit`"
# Problems that are told at once.
_MOST = 20


@dataclass(frozen=True)
class Checked:
    """What became of a file.

    Attributes:
        submission: None where it is refused.
        documents: Its figures by document; None where it is refused, or has none.
        problems: Why it is refused; empty where it is not.
    """

    submission: Submission | None = None
    documents: Documents | None = None
    problems: tuple[Problem, ...] = ()


def validate(raw: bytes) -> Checked:
    """Check a submission as it is uploaded: a JSON object with the fields of `Submission`, and `documents`.

    Args:
        raw: The file's bytes, whatever they are.

    Returns:
        The records, or the problems. Nothing is raised, whatever the bytes are.
    """
    try:
        content = read_json(raw)
    except BadJsonError as error:
        return Checked(problems=(error.problem,))
    if problem := _schema(content):
        return Checked(problems=(problem,))
    # Before anything else: the messages that follow name fields of the file.
    if problems := tuple(itertools.islice(text_problems(content), _MOST)):
        return Checked(problems=problems)
    attached = content.pop("documents", None)
    try:
        submission = Submission.model_validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        return Checked(problems=_structure(error, ""))
    try:
        documents = None if attached is None else Documents.model_validate_json(json.dumps(attached), strict=True)
    except ValidationError as error:
        return Checked(problems=_structure(error, "documents."))
    found = itertools.islice(_content(submission, documents), _MOST)
    # A change by hand is a wrong hash too, but what it broke says more.
    problems = tuple(found) or tuple(_hashes(submission, documents))
    return Checked(problems=problems) if problems else Checked(submission, documents)


def _schema(content: dict[str, Any]) -> Problem | None:
    version = content.get("schema_version")
    if type(version) is int and version == SCHEMA_VERSION:
        return None
    if "results" in content and "configs" in content:
        return Problem("file", "is a results file of the harness", "make a submission of it with `lm-eval-ita submit`")
    what = "is missing" if version is None else f"is not {SCHEMA_VERSION}"
    return Problem("schema_version", what, "make the file again with `lm-eval-ita submit` of this version")


def _structure(error: ValidationError, prefix: str) -> tuple[Problem, ...]:
    entries = error.errors(include_url=False, include_input=False, include_context=False)[:_MOST]
    return tuple(
        Problem(prefix + path_of(tuple(map(str, entry["loc"]))), entry["msg"].lower(), _AGAIN) for entry in entries
    )


def _content(submission: Submission, documents: Documents | None) -> Iterator[Problem]:
    yield from facts_problems(submission.facts)
    yield from run_problems(submission)
    found = list(task_problems(submission))
    yield from found
    if documents is not None and not found:
        # SciPy comes with it, which takes a second to import: only here.
        from lm_eval_ita.results.documents import document_problems

        yield from document_problems(submission, documents)


def _hashes(submission: Submission, documents: Documents | None) -> Iterator[Problem]:
    changed = "the file was changed after it was made"
    if submission.documents_sha != (None if documents is None else documents_hash(documents)):
        yield Problem("documents_sha", f"is not the hash of the documents: {changed}", _AGAIN)
    if documents is not None and documents.submission_id != submission.submission_id:
        yield Problem("documents.submission_id", "is another submission's", _AGAIN)
    if submission.submission_id != submission_hash(submission):
        yield Problem("submission_id", f"is not the hash of the content: {changed}", _AGAIN)
