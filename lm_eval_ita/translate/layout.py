"""What the texts of a row are to each other: a question, options, a passage, answers in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.translate.paths import FieldPath, parse_path

__all__ = ["KNOWN", "Layout", "Text", "guess", "right_options"]

_QUESTIONS = ("question", "query", "ctx", "premise", "prompt", "goal", "sentence", "stem", "text")
_ANSWERS = "answers.text[]"


@dataclass(frozen=True)
class Text:
    """A text with what it was made of.

    Attributes:
        path: As in `--fields`.
        where: Where it is in its row, as `choices.text[2]`.
        number: Its place in the list that it ends; None for a text alone.
        target: The Italian text.
        source: The original; None where it is not known.
        right: Whether it is a right option; None where that is not known.
        unfinished, too_long: As the translation says.
        start: For an answer in a passage, where the row says that it begins.
    """

    path: str
    where: str
    number: int | None
    target: str
    source: str | None = None
    right: bool | None = None
    unfinished: bool = False
    too_long: bool = False
    start: int | None = None


@dataclass(frozen=True)
class Layout:
    """Which paths hold what.

    Attributes:
        question: The path of what is asked; None where there is none.
        options: Paths of lists of options.
        context: The path of a passage with the answers in it.
        answers: Their path.
    """

    question: str | None = None
    options: tuple[str, ...] = ()
    context: str | None = None
    answers: str | None = None


# Of data sets of the catalogue that are translations: fields and layout.
KNOWN: Mapping[str, tuple[tuple[str, ...], Layout]] = {
    "arc_challenge": (("question", "choices.text[]"), Layout("question", ("choices.text[]",))),
    "truthfulqa": (
        ("question", "mc1_targets.choices[]", "mc2_targets.choices[]"),
        Layout("question", ("mc1_targets.choices[]", "mc2_targets.choices[]")),
    ),
    "squad_it": (("context", "question", _ANSWERS), Layout("question", (), "context", _ANSWERS)),
    "hellaswag": (("ctx", "endings[]"), Layout("ctx", ("endings[]",))),
    "belebele": (("flores_passage", "question"), Layout("question")),
}


def guess(paths: Sequence[FieldPath]) -> Layout:
    """The layout that the names of paths suggest."""
    names = [path.text for path in paths]
    question = next((name for wanted in _QUESTIONS for name in names if name == wanted), None)
    context = "context" if {"context", _ANSWERS} <= set(names) else None
    answers = _ANSWERS if context else None
    options = tuple(path.text for path in paths if path.is_list and path.text != answers)
    return Layout(question, options, context, answers)


def right_options(row: Mapping[str, Any], path: str) -> set[int]:
    """The places of the right options in a list; empty where the row does not say it in a way known here.

    Known are a list `labels` of 0 and 1 beside the options, and a column `answerKey`, `answer` or `label` that holds
    a place (from 0) or a name out of a list `label` beside the options.
    """
    steps = parse_path(path).steps
    beside: Any = row
    for step in steps[:-2]:
        beside = beside.get(step) if isinstance(beside, Mapping) else None
    beside = beside if isinstance(beside, Mapping) else {}
    labels = beside.get("labels")
    if isinstance(labels, list):
        return {number for number, label in enumerate(labels) if label == 1}
    key = next((row[name] for name in ("answerKey", "answer", "label") if name in row), None)
    names = beside.get("label")
    if isinstance(names, list) and key in names:
        return {names.index(key)}
    if isinstance(key, str) and key.isdigit():
        key = int(key)
    return {key} if isinstance(key, int) and not isinstance(key, bool) else set()
