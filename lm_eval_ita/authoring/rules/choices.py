"""Choices and labels, on every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lm_eval_ita.authoring.calling import Outcome, attempt
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.rendering import Renderer
from lm_eval_ita.authoring.rules.data import Table
from lm_eval_ita.authoring.rules.functions import Functions
from lm_eval_ita.authoring.rules.prompts import DOUBLE_SPACE
from lm_eval_ita.authoring.source import Source

__all__ = ["RULES", "check", "check_rows"]

CHOICES = Rule("choices", "A multiple-choice task gives every row a list of two or more texts to choose from.")
EMPTY_CHOICE = Rule("empty-choice", "No choice is empty: it would have no tokens to score.")
DUPLICATE_CHOICE = Rule("duplicate-choice", "No choice stands twice among a row's choices.", acceptable=True)
LABEL = Rule("label", "Every label is among the choices of its row.")
RULES = (CHOICES, EMPTY_CHOICE, DUPLICATE_CHOICE, LABEL)


def check(source: Source) -> Iterator[Finding]:
    """Findings about choices as they are written."""
    written = source.config.get("doc_to_choice")
    if source.config.get("output_type") == "multiple_choice" and written is None:
        mend = "write doc_to_choice: a list, a column's name or a template"
        yield source.finding(CHOICES, ("output_type",), "there is nothing to choose from", mend)
    listed = written if isinstance(written, list) else list(written.values()) if isinstance(written, dict) else []
    for number, choice in enumerate(listed):
        if not isinstance(choice, str):
            mend = "write it in quotes: YAML reads a bare No as false, and a bare 1 as a number"
            yield source.finding(CHOICES, ("doc_to_choice", number), f"the choice {choice!r} is no text", mend)


def check_rows(source: Source, functions: Functions, tables: Sequence[Table]) -> Iterator[Finding]:
    """Findings about the choices and the label of every row."""
    if source.config.get("doc_to_choice") is None or any(check(source)):
        return
    for table in tables:
        renderer = Renderer(source, functions, table.columns, example=table.role == "example")
        # Where the prompt is a number, each choice has a prompt of its own and that number is the label.
        by_prompt = isinstance(attempt(renderer.text, table.rows[0]).value, int)
        field = "doc_to_text" if by_prompt else "doc_to_target"
        for position, row in enumerate(table.rows):
            found = list(_row(source, renderer, row, table.row(position), field))
            yield from found
            if found:
                break


def _row(source: Source, renderer: Renderer, row: Any, name: str, field: str) -> Iterator[Finding]:
    where = renderer.where("doc_to_choice")
    outcome = attempt(renderer.choices, row)
    choices = outcome.value
    if outcome.error is not None:
        yield source.finding(CHOICES, where, *_no_choices(renderer, row, name, outcome))
        return
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        yield source.finding(CHOICES, where, f"the choices of {name} are {choices!r:.60}", "give a list of texts")
        return
    if len(choices) < 2:
        yield source.finding(
            CHOICES, where, f"{name} has {len(choices)} choice", "give it two or more, or leave it out"
        )
        return
    for number, choice in enumerate(choices, start=1):
        if not choice.strip():
            yield source.finding(
                EMPTY_CHOICE, where, f"choice {number} of {name} is empty", "fill it, or leave it out of the list"
            )
            return
        if choice in choices[: number - 1]:
            what = f"the choice {choice!r:.60} stands twice in {name}"
            yield source.finding(DUPLICATE_CHOICE, where, what, "keep one: the label can mean only one of them")
            return
        delimiter = str(source.config.get("target_delimiter", " "))
        if choice[0].isspace() and delimiter[-1:].isspace():
            mend = "take the space off the choice, or off target_delimiter"
            yield source.finding(
                DOUBLE_SPACE, where, f"choice {number} of {name} begins with a space after target_delimiter's own", mend
            )
            return
    yield from _label(source, renderer, row, name, choices, field)


def _no_choices(renderer: Renderer, row: Any, name: str, outcome: Outcome) -> tuple[str, str]:
    """What is wrong with a `doc_to_choice` that fails, and the mend."""
    rendered = attempt(renderer.plain, "doc_to_choice", row)
    if renderer.template("doc_to_choice") is not None and rendered.error is None:
        what = f"doc_to_choice gives {rendered.value!r:.60} on {name}, which is not the Python text of a list"
        return what, "write a template such as {{[first, second]}}, or the name of a column with a list"
    return f"doc_to_choice fails on {name} ({outcome.reason})", "correct it"


def _label(
    source: Source, renderer: Renderer, row: Any, name: str, choices: list[str], field: str
) -> Iterator[Finding]:
    outcome = attempt(renderer.text if field == "doc_to_text" else renderer.target, row)
    if outcome.error is not None or not isinstance(outcome.value, int | str | list):
        return  # said by the rules for prompts
    labels = outcome.value if isinstance(outcome.value, list) else [outcome.value]
    for label in labels:
        inside = 0 <= label < len(choices) if isinstance(label, int) else label in choices
        if not inside:
            place = f"0 to {len(choices) - 1}" if isinstance(label, int) else " / ".join(choices)
            mend = "let doc_to_target give the number of the right choice, counted from 0, or its text"
            yield source.finding(
                LABEL,
                renderer.where(field),
                f"the label {label!r:.60} of {name} is not among its choices ({place:.120})",
                mend,
            )
            return
