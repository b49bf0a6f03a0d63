"""What sorting, filtering and averaging need of a submission: little enough to read and hold thousands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lm_eval_ita.leaderboard.models import Model, submitted_model
from lm_eval_ita.leaderboard.uncertainty import column_variances
from lm_eval_ita.results.records import BOARD_SUITES, Suite, TaskRecord
from lm_eval_ita.results.reference import Reference
from lm_eval_ita.results.submission_records import Submission
from lm_eval_ita.results.suite import Column, Row, columns_of, measured_row

__all__ = [
    "ABSENT",
    "DOUBTFUL",
    "SOUND",
    "Brief",
    "SuiteFigures",
    "brief_of",
    "from_json",
    "measured",
    "to_json",
]

# What a column holds of a model: nothing, a figure that is comparable with others', or one that is not.
ABSENT, SOUND, DOUBTFUL = 0, 1, 2


@dataclass(frozen=True, slots=True)
class SuiteFigures:
    """One model's figures in one suite, in the order of the suite's columns (`columns_of`).

    Attributes:
        scores: None where the figure is missing.
        marks: ABSENT, SOUND or DOUBTFUL.
        variances: Of the scores, from their intervals; None where one is missing.
    """

    scores: tuple[float | None, ...]
    marks: tuple[int, ...]
    variances: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """One submission.

    Attributes:
        model: Whose; its `id` is the submission's.
        key: See `Submission.key`.
        submitted: When the store took it, UTC.
        suites: What it holds of each suite.
        read: Gives the submission, without details of tasks.
    """

    model: Model
    key: str
    submitted: datetime
    suites: Mapping[Suite, SuiteFigures]
    read: Callable[[], Submission]

    @property
    def submission_id(self) -> str:
        """Its name."""
        return self.model.id


def measured(
    submission: Submission, label: str, suite: Suite, columns: Sequence[Column], references: Mapping[str, Reference]
) -> Row | None:
    """A submission's row in a suite, without means; None where it holds nothing of these columns.

    Args:
        submission: The model's.
        label: The row's.
        suite: Which.
        columns: Of the suite, or some of them.
        references: The suites as they are installed.
    """
    records: dict[str, TaskRecord] = {
        record.task: record for record in submission.run.tasks.values() if record.suite == suite
    }
    if not records:
        return None
    return measured_row(label, submission.run.model, records, columns, references)


def brief_of(
    submission: Submission, references: Mapping[str, Reference], read: Callable[[], Submission] | None = None
) -> Brief:
    """What is needed of a submission.

    Args:
        submission: With or without details of tasks.
        references: The suites as they are installed: they say which figures are comparable.
        read: Gives the submission later; None to keep it.
    """
    model, suites = submitted_model(submission), {}
    for suite in BOARD_SUITES:
        columns = columns_of(suite, references)
        row = measured(submission, model.name, suite, columns, references)
        if row is not None:
            suites[suite] = _figures(row, columns, submission.intervals)
    return Brief(model, submission.key, submission.submitted, suites, read or (lambda: submission))


def _figures(row: Row, columns: Sequence[Column], intervals: Mapping[str, tuple[float, float]]) -> SuiteFigures:
    cells = [row.cells.get(column.name) for column in columns]
    variances = column_variances(row, columns, intervals)
    return SuiteFigures(
        tuple(None if cell is None else cell.score for cell in cells),
        tuple(ABSENT if cell is None else DOUBTFUL if cell.why_not else SOUND for cell in cells),
        tuple(variances.get(column.name) for column in columns),
    )


def to_json(brief: Brief) -> list[Any]:
    """A brief as a JSON value."""
    model = brief.model
    facts = [model.name, model.organisation, model.parameters, model.kind, model.licence, model.searched]
    suites = {name: [own.scores, own.marks, own.variances] for name, own in brief.suites.items()}
    return [model.id, brief.key, brief.submitted.isoformat(), facts, model.identifier, suites]


def from_json(value: Any, read: Callable[[], Submission]) -> Brief:
    """A brief that `to_json` made.

    Raises:
        ValueError, TypeError, KeyError: It is none.
    """
    submission_id, key, moment, (name, organisation, parameters, kind, licence, searched), identifier, suites = value
    submitted = datetime.fromisoformat(moment)
    model = Model(
        id=submission_id,
        name=name,
        identifier=identifier,
        organisation=organisation,
        parameters=parameters,
        kind=kind,
        licence=licence,
        submitted=submitted,
        searched=searched,
    )
    figures = {suite: SuiteFigures(*map(tuple, own)) for suite, own in suites.items()}
    return Brief(model, key, submitted, figures, read)
