"""A new task before it is written: everything that its files say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lm_eval_ita.authoring.new_task.table import Table
from lm_eval_ita.catalogue.schema import Column
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.own import Columns
from lm_eval_ita.harness.task_files import Origin

__all__ = ["KINDS", "About", "AssociationPlan", "Plan", "Request", "TaskKind", "refuse_strangers"]

TaskKind = Literal["multiple_choice", "yes_no", "generation", "association"]
KINDS: tuple[TaskKind, ...] = ("multiple_choice", "yes_no", "generation", "association")
# Fields of a request that only some kinds read.
_OF_ROWS = ("question", "context", "instruction", "split", "fewshot_split", "shots", "config", "keep_samples")
_OWN: dict[TaskKind, tuple[str, ...]] = {
    "multiple_choice": (*_OF_ROWS, "choices", "label", "counted", "labels"),
    "yes_no": (*_OF_ROWS, "label", "yes"),
    "generation": (*_OF_ROWS, "answer", "metric", "max_gen_toks"),
    "association": ("x", "y", "instructions"),
}


@dataclass(frozen=True)
class Request:
    """What the command line says; None for what it does not.

    Attributes:
        name: Of the task.
        kind: "multiple_choice", "yes_no", "generation" or "association".
        data: A file, a folder, or a repository of the Hub.
        into: The folder that the task is written to.
        config: Which configuration of a repository.
        question, context, choices, label, counted, labels, yes, answer: Columns, and what their values mean.
        instruction: The Italian text before the question.
        split, fewshot_split, shots: What is evaluated and where examples come from.
        metric, max_gen_toks: Of a task that generates.
        x, y, instructions: Lists and questions of an association test.
        origin, licence, paper, title: For the card and the catalogue.
        keep_samples: Whether ten rows of each split may be copied beside the task.
        force: Whether files that are there are replaced.
    """

    name: str
    kind: TaskKind
    data: str
    into: Path = Path()
    config: str | None = None
    question: str | None = None
    context: str | None = None
    choices: str | None = None
    label: str | None = None
    counted: str | None = None
    labels: str | None = None
    yes: str | None = None
    answer: str | None = None
    instruction: str | None = None
    split: str | None = None
    fewshot_split: str | None = None
    shots: int | None = None
    metric: str | None = None
    max_gen_toks: int | None = None
    x: str | None = None
    y: str | None = None
    instructions: str | None = None
    origin: str | None = None
    licence: str | None = None
    paper: str | None = None
    title: str | None = None
    keep_samples: bool | None = None
    force: bool = False


def refuse_strangers(request: Request) -> None:
    """Refuse what the kind of task would not read, instead of leaving it unread.

    Raises:
        UserError: A field is given that belongs to other kinds.
    """
    for name in dict.fromkeys(name for names in _OWN.values() for name in names):
        if name in _OWN[request.kind] or getattr(request, name) is None:
            continue
        flag, others = "--" + name.replace("_", "-"), [kind for kind, names in _OWN.items() if name in names]
        raise UserError(f"{flag} is of --kind {' and '.join(others)}, not {request.kind}; leave it out")
    if request.choices is not None and request.labels is not None:
        raise UserError("--choices (options of each row) and --labels (options that all rows share) exclude each other")


@dataclass(frozen=True)
class About:
    """Where a task comes from.

    Attributes:
        title: Of the data set.
        origin: As the card has it.
        licence: Of the data.
        paper: Where they come from.
    """

    title: str
    origin: Origin
    licence: str
    paper: str


@dataclass(frozen=True)
class Plan:
    """A task over rows.

    Attributes:
        name, kind: As asked for.
        table: Its data.
        used: The rows of the splits that it uses, as the catalogue reads them.
        columns: What they mean.
        types: Every column of the catalogue entry.
        prompt: The template of the prompt.
        options: The fixed choices; None where each row has its own, or none.
        evaluated, shots_from: Splits; `shots_from` is None for a task without examples.
        shots: How many.
        metric: The primary metric.
        max_gen_toks: Of a task that generates.
        chance: What guessing scores.
        unanswered: How many rows of a task that generates have no right answer.
        deviations: For the card.
        accepts: For the card.
        about: Where it comes from.
        keep_samples: Whether sample rows are written.
    """

    name: str
    kind: TaskKind
    table: Table
    used: Mapping[str, list[dict[str, Any]]]
    columns: Columns
    types: Mapping[str, Column]
    prompt: str
    options: tuple[str, ...] | None
    evaluated: str
    shots_from: str | None
    shots: int
    metric: str
    max_gen_toks: int | None
    chance: float | None
    unanswered: int
    deviations: tuple[str, ...]
    accepts: Mapping[str, str]
    about: About
    keep_samples: bool


@dataclass(frozen=True)
class AssociationPlan:
    """An association test.

    Attributes:
        name: As asked for.
        text: Its list file.
        title: What is compared.
        example: The first prompt.
        system: The system message; "" for none.
        lexicon: Name and text of the lexicon of another language; None for the Italian one.
        about: Where it comes from.
    """

    name: str
    text: str
    title: str
    example: str
    system: str
    lexicon: tuple[str, str] | None
    about: About
