"""A submission to the leaderboard: one model with one way to use it, its figures, and what is known about it."""

import hashlib
import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lm_eval_ita.results.records import Number, RunRecord, TaskRecord

__all__ = [
    "SCHEMA_VERSION",
    "Documents",
    "ModelFacts",
    "Submission",
    "TaskDocuments",
    "documents_hash",
    "lean",
    "submission_hash",
    "upload_bytes",
    "with_id",
]

# Raised whenever a field changes its meaning or goes away. New fields have defaults, which no hash sees.
SCHEMA_VERSION: Literal[1] = 1

# What a table of many models does not show.
_DETAILS = ("breakdowns", "stderrs", "baselines", "truncated", "task_hash", "prompts")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class ModelFacts(_Record):
    """What the submitter says about the model, from `model.yaml`.

    Attributes:
        display_name: As shown.
        organisation: Who made it.
        parameters: Number of parameters, all of them (of a mixture of experts too).
        kind: "base", or "chat" for one that follows instructions.
        licence: Of the weights, as text.
        languages: It was trained for: ISO 639 codes.
        open_weights: Whether anybody can download it.
        contamination: What is known about data of these benchmarks among its training data.
        link: Its page, https only.
        samples: Where the run's answers can be read, https only.
    """

    display_name: str
    organisation: str | None = None
    parameters: int
    kind: Literal["base", "chat"]
    licence: str
    languages: tuple[str, ...]
    open_weights: bool
    contamination: str
    link: str | None = None
    samples: str | None = None


class Submission(_Record):
    """One model with one way to use it.

    Attributes:
        schema_version: Of this record.
        submission_id: The first 16 hexadecimal digits of the SHA-256 of everything but itself and `submitted`.
        submitted: When the store took it, UTC.
        facts: About the model.
        run: Its figures and settings, with no path of the machine that it ran on.
        intervals: Task to the 95% interval of its headline figure: `score` for ItaEval, the bias score for ItaP-AT.
            Tasks without one are left out.
        cost: Of the whole run, by name: wall_seconds, tokens_in, ... (`docs/running.md`, "Costs"); empty where nobody
            counted.
        documents_sha: Hash of the figures by document that came with it; None where none did.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    submission_id: str = Field(pattern=r"^[0-9a-f]{16}$")
    submitted: datetime
    facts: ModelFacts
    run: RunRecord
    intervals: dict[str, tuple[float, float]] = Field(default_factory=dict)
    cost: dict[str, Number] = Field(default_factory=dict)
    documents_sha: str | None = None

    @property
    def key(self) -> str:
        """What tells two models, or two ways to use one, apart; a later submission of a key replaces the earlier."""
        generation = sorted({_json(task.gen_kwargs) for task in self.run.tasks.values() if task.gen_kwargs})
        return hashlib.sha256(_json([self.run.model.key, generation]).encode()).hexdigest()[:16]


class TaskDocuments(_Record):
    """One task's figures by document, for paired tests. Either `values`, or `golds` and `chosen`.

    Attributes:
        documents_sha: Hash of the documents in their order; equal hashes are equal documents.
        values: The score of each document; None where it has none.
        golds: Number of the right label of each document, from 0.
        chosen: Number of the label that the model chose; -1 for none.
        labels: How many labels there are; 0 with `values`.
    """

    documents_sha: str = Field(pattern=r"^[0-9a-f]{64}$")
    values: tuple[Number, ...] = ()
    golds: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    labels: int = 0


class Documents(_Record):
    """A submission's figures by document.

    Attributes:
        submission_id: Whose.
        tasks: By name. Tasks that a scorer model judges have none.
    """

    submission_id: str = Field(pattern=r"^[0-9a-f]{16}$")
    tasks: dict[str, TaskDocuments]


def submission_hash(submission: Submission) -> str:
    """What `submission_id` must be."""
    content = submission.model_dump(mode="json", exclude={"submission_id", "submitted"}, exclude_defaults=True)
    return hashlib.sha256(_json(content).encode()).hexdigest()[:16]


def documents_hash(documents: Documents) -> str:
    """What a submission's `documents_sha` must be."""
    content = documents.model_dump(mode="json", include={"tasks"}, exclude_defaults=True)
    return hashlib.sha256(_json(content).encode()).hexdigest()


def with_id(submission: Submission) -> Submission:
    """The submission under its right name."""
    return submission.model_copy(update={"submission_id": submission_hash(submission)})


def lean(submission: Submission) -> Submission:
    """Without details of tasks, which a table does not show: a quarter of it."""
    empty = {name: TaskRecord.model_fields[name].get_default(call_default_factory=True) for name in _DETAILS}
    tasks = {name: record.model_copy(update=empty) for name, record in submission.run.tasks.items()}
    return submission.model_copy(update={"run": submission.run.model_copy(update={"tasks": tasks})})


def upload_bytes(submission: Submission, documents: Documents | None = None) -> bytes:
    """A submission with its documents as one file: what `submit` writes, and what is uploaded."""
    content = submission.model_dump(mode="json", exclude_defaults=True) | {"schema_version": SCHEMA_VERSION}
    if documents is not None:
        content["documents"] = documents.model_dump(mode="json", exclude_defaults=True)
    return _json(content).encode()


def _json(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
