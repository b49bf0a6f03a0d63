"""Prompts, targets and choices of a row, as lm_eval 0.4.13 makes them; a test holds the two together."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_ita.authoring.rules.functions import Functions
from lm_eval_ita.authoring.source import KeyPath, Source

__all__ = ["Renderer", "compiled"]

Row = Mapping[str, Any]


@functools.lru_cache(maxsize=512)
def compiled(template: str) -> Any:
    """A compiled template, with the harness's filters and its strictness.

    Raises:
        jinja2.TemplateSyntaxError: It cannot be compiled.
    """
    from lm_eval.utils import env

    return env.from_string(template)


class Renderer:
    """Renders the fields of one task.

    Args:
        source: The task.
        functions: Those that it names.
        columns: The columns of the evaluated rows: a field that is the name of one stands for its content.
        example: Whether the fields are those of a few-shot example, which `fewshot_config` may override.
    """

    def __init__(self, source: Source, functions: Functions, columns: Sequence[str], *, example: bool = False) -> None:
        self._source, self._functions = source, functions
        self._columns = frozenset(columns)
        self._example = example

    def where(self, field: str) -> KeyPath:
        """The key that decides a field."""
        own: KeyPath = ("fewshot_config", field)
        return own if self._example and self._source.value(own) is not None else (field,)

    def template(self, field: str) -> str | None:
        """The field where it is a template: neither a function nor a column's name nor a list."""
        where = self.where(field)
        value = self._source.value(where)
        return (
            value
            if isinstance(value, str) and where not in self._source.functions and value not in self._columns
            else None
        )

    def has_choices(self) -> bool:
        """Whether the task has choices at all."""
        return self._source.value(("doc_to_choice",)) is not None

    def text(self, row: Row) -> Any:
        """The prompt: text, or a whole number where each choice has a prompt of its own."""
        rendered = self._render("doc_to_text", row)
        return self._number(rendered) if self.template("doc_to_text") is not None else rendered

    def target(self, row: Row) -> Any:
        """The gold answer: text, the number of a choice, or a list."""
        rendered = self._render("doc_to_target", row)
        if self.template("doc_to_target") is None:
            return rendered
        number = self._number(rendered)
        if number is rendered and len(rendered) >= 2 and rendered[0] == "[" and rendered[-1] == "]":
            try:
                return ast.literal_eval(rendered)
            except (SyntaxError, ValueError):
                return rendered
        return number

    def choices(self, row: Row) -> Any:
        """The choices, a list; None for a task without."""
        if not self.has_choices():
            return None
        rendered = self._render("doc_to_choice", row)
        if isinstance(rendered, dict):
            return list(rendered.values())
        return ast.literal_eval(rendered) if self.template("doc_to_choice") is not None else rendered

    def plain(self, field: str, row: Row) -> Any:
        """A field that is only text: `description` or `gen_prefix`."""
        return self._render(field, row)

    def _number(self, rendered: Any) -> Any:
        return (
            ast.literal_eval(rendered)
            if isinstance(rendered, str) and rendered.isdigit() and self.has_choices()
            else rendered
        )

    def _render(self, field: str, row: Row) -> Any:
        where = self.where(field)
        if where in self._functions:
            return self._functions[where](row)
        value = self._source.value(where)
        if isinstance(value, str):
            return row[value] if value in self._columns else compiled(value).render(**row)
        return value
