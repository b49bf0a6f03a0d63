"""Prompts: templates that render on every row, and text that says what was meant."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from lm_eval_ita.authoring.calling import Outcome, attempt
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.authoring.rendering import Renderer, compiled
from lm_eval_ita.authoring.rules.data import Table
from lm_eval_ita.authoring.rules.functions import Functions
from lm_eval_ita.authoring.source import KeyPath, Source

__all__ = ["DOUBLE_SPACE", "RULES", "TEMPLATE", "check", "check_rows"]

TEMPLATE = Rule("template", "Every template is Jinja that compiles.")
FIELD = Rule("field", "Templates name columns that every row has.")
RENDER = Rule("render", "Every row gives a prompt and a target of the right kind.")
CONSTANT = Rule("constant-prompt", "The prompt depends on the row: a column's name outside of braces is only a word.")
EMPTY = Rule("empty-prompt", "No prompt is empty.")
TRAILING_SPACE = Rule("trailing-space", "No prompt ends in a space: the delimiter is added to it.", acceptable=True)
DOUBLE_SPACE = Rule("double-space", "No answer begins with a space that the delimiter adds already.", acceptable=True)
FULLWIDTH = Rule(
    "fullwidth", "Prompts hold no fullwidth punctuation (\u201c：\u201d), which is not Italian.", acceptable=True
)
NOT_NFC = Rule("not-nfc", "Prompts are in Unicode NFC, as the data are.")
RULES = (TEMPLATE, FIELD, RENDER, CONSTANT, EMPTY, TRAILING_SPACE, DOUBLE_SPACE, FULLWIDTH, NOT_NFC)

_TEMPLATES = ("doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix")
_TEXTS = (*_TEMPLATES, "target_delimiter", "fewshot_delimiter")
_FULLWIDTH = re.compile("[\uff01-\uff5e\u3000-\u3003]")
_UNDEFINED = re.compile(r"'([^']+)' is undefined|has no attribute '([^']+)'")


def check(source: Source) -> Iterator[Finding]:
    """Findings about the texts as they are written."""
    for prefix in ((), ("fewshot_config",)):
        for field in _TEXTS:
            where: KeyPath = (*prefix, field)
            if where not in source.functions:
                yield from _written(source, where)
    needed = () if source.config.get("output_type") == "loglikelihood_rolling" else ("doc_to_text",)
    for field in (*needed, "doc_to_target"):
        if source.config.get(field) is None:
            yield source.finding(
                RENDER, (), f"there is no {field}", f"write {field}: a template, a column's name or a !function"
            )


def _written(source: Source, where: KeyPath) -> Iterator[Finding]:
    value = source.value(where)
    texts = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
    for text in texts:
        if not isinstance(text, str):
            continue
        if mark := _FULLWIDTH.search(text):
            what = f"{where[-1]} holds the fullwidth character {mark.group()!r}"
            mend = f"write {unicodedata.normalize('NFKC', mark.group())!r}"
            yield source.finding(FULLWIDTH, where, what, mend)
        if not unicodedata.is_normalized("NFC", text):
            mend = "normalise it: letters and accents are one character"
            yield source.finding(NOT_NFC, where, f"{where[-1]} is not in Unicode NFC", mend)
        outcome = attempt(compiled, text) if where[-1] in _TEMPLATES else Outcome()
        if outcome.error is not None:
            what = f"{where[-1]} is no template that Jinja can read ({outcome.error})"
            yield source.finding(TEMPLATE, where, what, "correct its braces and tags")


def check_rows(source: Source, functions: Functions, tables: Sequence[Table]) -> Iterator[Finding]:
    """Findings about what the texts become on the rows of every split."""
    for table in tables:
        renderer = Renderer(source, functions, table.columns, example=table.role == "example")
        prompts = yield from _rendered(source, renderer, table, "doc_to_text", renderer.text)
        yield from _prompts(source, renderer, table, prompts)
        targets = yield from _rendered(source, renderer, table, "doc_to_target", renderer.target)
        yield from _targets(source, renderer, table, targets)
        for field in ("description", "gen_prefix"):
            if source.value(renderer.where(field)):
                yield from _rendered(source, renderer, table, field, functools.partial(renderer.plain, field))


def _rendered(
    source: Source, renderer: Renderer, table: Table, field: str, render: Callable[[Any], Any]
) -> Generator[Finding, None, list[Any]]:
    """Render a field on every row; returns what it became, or an empty list where one row fails."""
    if source.value(renderer.where(field)) is None:
        return []
    rendered: list[Any] = []
    for position, row in enumerate(table.rows):
        outcome = attempt(render, row)
        if outcome.error is not None:
            yield _failure(source, renderer, table, field, outcome, position)
            return []
        rendered.append(outcome.value)
    return rendered


def _failure(source: Source, renderer: Renderer, table: Table, field: str, outcome: Outcome, position: int) -> Finding:
    where = renderer.where(field)
    missing = _UNDEFINED.search(str(outcome.error))
    if missing is not None and renderer.template(field) is not None:
        name = missing.group(1) or missing.group(2)
        columns = [str(column) for column in table.rows[position]]
        mend = did_you_mean(name, columns, f"the columns are {', '.join(columns)}")
        return source.finding(FIELD, where, f"{field} names {name!r}, which {table.row(position)} does not have", mend)
    if isinstance(outcome.error, KeyError) and renderer.template(field) is None and where not in source.functions:
        what = f"{field} is the column {source.value(where)!r}, which {table.row(position)} does not have"
        return source.finding(FIELD, where, what, f"the columns are {', '.join(map(str, table.rows[position]))}")
    return source.finding(RENDER, where, f"{field} fails on {table.row(position)} ({outcome.reason})", "correct it")


def _prompts(source: Source, renderer: Renderer, table: Table, prompts: Sequence[Any]) -> Iterator[Finding]:
    where = renderer.where("doc_to_text")
    for position, prompt in enumerate(prompts):
        if not isinstance(prompt, str | int):
            what = f"doc_to_text gives {type(prompt).__name__} on {table.row(position)}"
            yield source.finding(RENDER, where, what, "it must give text")
            return
        if isinstance(prompt, str) and not prompt.strip():
            if source.config.get("output_type") not in ("loglikelihood", "loglikelihood_rolling"):
                yield source.finding(
                    EMPTY,
                    where,
                    f"the prompt of {table.row(position)} is empty",
                    "give it a text, or leave the row out",
                )
            return
        if isinstance(prompt, str) and prompt[-1] in " \t\u00a0":
            mend = "take the space off: target_delimiter stands between prompt and answer"
            yield source.finding(TRAILING_SPACE, where, f"the prompt of {table.row(position)} ends in a space", mend)
            return
    if len(prompts) > 1 and len({str(prompt) for prompt in prompts}) == 1 and table.total > 1:
        near = did_you_mean(str(source.value(where)), table.columns, "name its columns in braces: {{column}}")
        yield source.finding(
            CONSTANT, where, f"the prompt is the same for all {table.total} rows of split {table.split}", near
        )


def _targets(source: Source, renderer: Renderer, table: Table, targets: Sequence[Any]) -> Iterator[Finding]:
    where = renderer.where("doc_to_target")
    delimiter = source.config.get("target_delimiter", " ")
    for position, target in enumerate(targets):
        if not isinstance(target, str | int | list):
            kind = "nothing" if target is None else type(target).__name__
            what = f"doc_to_target gives {kind} on {table.row(position)}"
            yield source.finding(RENDER, where, what, "it must give text, the number of a choice, or a list")
            return
        if isinstance(target, str) and target[:1].isspace() and str(delimiter)[-1:].isspace():
            mend = "take the space off the target, or off target_delimiter"
            yield source.finding(
                DOUBLE_SPACE,
                where,
                f"the target of {table.row(position)} begins with a space after target_delimiter's own",
                mend,
            )
            return
