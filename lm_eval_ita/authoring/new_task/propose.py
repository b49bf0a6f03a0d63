"""Likely columns, labels and splits of a data set: proposals, which a person confirms or a flag overrides."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from lm_eval_ita.authoring.new_task.columns import Facts, Row, value_of
from lm_eval_ita.harness.own import LETTERS

__all__ = ["answer", "choices", "counting", "evaluated_split", "label", "question", "shots_split", "yes_value"]

Facts_ = Mapping[str, Facts]
Counted = Literal["zero", "one", "letter", "text", "names"]

_QUESTIONS = (
    *("domanda", "question", "quesito", "query", "prompt", "input", "premise", "premessa", "ctx", "sentence", "frase"),
    *("testo", "text", "full_text", "tweet", "test_case", "source", "context"),
)
_LABELS = ("label", "labels", "etichetta", "gold", "risposta_corretta", "corretta", "giusta", "correct", "answerkey")
_ANSWERS = (
    "answer",
    "answers.text",
    "answers",
    "risposta",
    "risposte",
    "target",
    "reference",
    "output",
    "summary",
    "riassunto",
)
_CHOICES = (
    "choices.text",
    "choices",
    "options",
    "opzioni",
    "alternatives",
    "alternative",
    "endings",
    "answers",
    "risposte",
)
# A family of columns, one an option: choice1, choice2; opzione_a, opzione_b; mc_answer1; A, B.
_MEMBER = re.compile(r"^(?P<family>.*?)[ _-]?(?P<member>[a-eA-E]|[0-9])$")
_YES = frozenset({"1", "true", "yes", "sì", "si", "vero", "y", "s", "hateful", "positive", "entailment", "acceptable"})


def question(columns: Facts_) -> str | None:
    """The text that is asked about: a column of a usual name, else the one with the longest texts."""
    texts = {name: facts for name, facts in columns.items() if facts.kind == "str"}
    named = _named(texts, _QUESTIONS)
    if named is not None:
        return named
    return max(texts, key=lambda name: texts[name].length, default=None)


def choices(columns: Facts_) -> tuple[str, ...] | None:
    """The options: one column with lists, or a family of columns."""
    lists = [name for name, facts in columns.items() if facts.kind == "strings"]
    named = _named(lists, _CHOICES)
    if named is not None:
        return (named,)
    families: dict[str, list[str]] = {}
    for name, facts in columns.items():
        match = _MEMBER.match(name)
        if match is not None and facts.kind in ("str", "int"):
            families.setdefault(match["family"], []).append(name)
    largest = max(families.values(), key=len, default=[])
    if len(largest) >= 2:
        return tuple(sorted(largest))
    return (lists[0],) if lists else None


def label(columns: Facts_, without: Collection[str], values: int | None = None) -> str | None:
    """The column with the right option: of a usual name, else the one with the fewest values.

    Args:
        columns: All columns.
        without: Columns that mean something else.
        values: How many values it must have; any number where None.
    """
    fitting = {
        name: facts
        for name, facts in columns.items()
        if name not in without
        and facts.kind in ("str", "int", "bool")
        and facts.values is not None
        and len(facts.values) >= 2
        and (values is None or len(facts.values) == values)
    }
    named = _named(fitting, _LABELS) or _named(fitting, _ANSWERS)
    return named or min(fitting, key=lambda name: len(fitting[name].values or ()), default=None)


def counting(
    rows: Sequence[Row], label: str, choices: Sequence[str], columns: Facts_
) -> tuple[Counted | None, str | None]:
    """How a label names an option, and the column with the options' names where there is one.

    Returns:
        None where no way fits every row, or where counting from 0 and from 1 both do.
    """
    labels = [value_of(row, label) for row in rows]
    counts = [_count(row, choices) for row in rows]
    numbers = [int(str(value)) if str(value).isdecimal() else None for value in labels]
    if all(number is not None for number in numbers):
        pairs = [(number or 0, count) for number, count in zip(numbers, counts, strict=True)]
        zero = all(number < count for number, count in pairs)
        one = all(1 <= number <= count for number, count in pairs)
        if zero != one:
            return ("zero" if zero else "one"), None
    if len(choices) == 1:
        outer = choices[0].partition(".")[0]
        for name, facts in columns.items():
            beside = name != choices[0] and (name.partition(".")[0] == outer or "label" in name)
            if facts.kind == "strings" and beside and all(_named_in(row, label, name) for row in rows):
                return "names", name
    if all(_is_letter(value, count) for value, count in zip(labels, counts, strict=True)):
        return "letter", None
    if all(value in _options(row, choices) for value, row in zip(labels, rows, strict=True)):
        return "text", None
    return None, None


def answer(columns: Facts_, without: Collection[str]) -> str | None:
    """The right answer of a task that generates."""
    fitting = [n for n, facts in columns.items() if n not in without and facts.kind in ("str", "strings", "int")]
    return _named(fitting, _ANSWERS) or (fitting[0] if len(fitting) == 1 else None)


def yes_value(values: Sequence[Any]) -> Any:
    """Which of two values means yes; None where neither is a usual one."""
    found = [value for value in values if str(value).casefold() in _YES]
    return found[0] if len(found) == 1 else None


def evaluated_split(splits: Collection[str]) -> str | None:
    """The split to evaluate: test, else validation, else the only one."""
    return _named(splits, ("test", "validation", "dev", "val", "valid")) or (
        next(iter(splits)) if len(splits) == 1 else None
    )


def shots_split(splits: Collection[str], evaluated: str) -> str:
    """The split to draw examples from: train, else validation, else the evaluated one."""
    others = [name for name in splits if name != evaluated]
    return _named(others, ("train", "validation", "dev", "val", "valid")) or evaluated


def _named(names: Collection[str], wanted: Sequence[str]) -> str | None:
    by_key = {name.casefold(): name for name in reversed(list(names))}
    return next((by_key[name] for name in wanted if name in by_key), None)


def _options(row: Row, choices: Sequence[str]) -> list[Any]:
    if len(choices) == 1:
        found = value_of(row, choices[0])
        return found if isinstance(found, list) else []
    return [value_of(row, name) for name in choices]


def _count(row: Row, choices: Sequence[str]) -> int:
    options = _options(row, choices)
    while options and options[-1] in (None, ""):
        options = options[:-1]
    return len(options)


def _is_letter(value: Any, count: int) -> bool:
    text = str(value).strip().upper()
    return len(text) == 1 and text in LETTERS[:count]


def _named_in(row: Row, label: str, names: str) -> bool:
    found = value_of(row, names)
    return isinstance(found, list) and value_of(row, label) in found
