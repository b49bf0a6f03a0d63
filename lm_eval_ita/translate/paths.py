"""Texts inside rows by path: `question`, `choices.text[]`, `paragraphs[].qas[].question`.

A path is names joined by dots; `[]` stands for every element of a list. A dot that belongs to a name is written `\\.`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.errors import UserError

__all__ = ["Address", "FieldPath", "parse_path", "put", "shown", "text_paths", "texts_at"]

# Where one text lies in a row: ("choices", "text", 2).
Address = tuple["str | int", ...]

_STEP = re.compile(r"((?:[^.\[\]\\]|\\.)+)((?:\[\])*)(?:\.(?!$)|$)")


@dataclass(frozen=True)
class FieldPath:
    """A path to texts.

    Attributes:
        text: As the user wrote it.
        steps: Names, and None for every element of a list.
    """

    text: str
    steps: tuple[str | None, ...]

    @property
    def is_list(self) -> bool:
        """Whether its last step is a list, as options are."""
        return self.steps[-1] is None


def parse_path(text: str) -> FieldPath:
    """Read a path.

    Raises:
        UserError: It is none.
    """
    steps: list[str | None] = []
    position = 0
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            break
        steps.append(re.sub(r"\\(.)", r"\1", step[1]))
        steps += [None] * (len(step[2]) // 2)
        position = step.end()
    if not steps or position < len(text):
        raise UserError(f"--fields {text!r}: is no path; write names with dots, and [] for lists, as in choices.text[]")
    return FieldPath(text, tuple(steps))


def texts_at(row: Mapping[str, Any], path: FieldPath) -> list[tuple[Address, str]]:
    """The texts of a row under a path, in its order; null is no text and is left out.

    Raises:
        UserError: The row lacks a step of the path, or something else than text lies at its end. It names neither file
            nor line, which the caller knows.
    """
    return list(_walk(row, path.steps, (), path))


def _walk(value: Any, steps: Sequence[str | None], at: Address, path: FieldPath) -> Iterator[tuple[Address, str]]:
    if value is None and at:
        return
    if not steps:
        if not isinstance(value, str):
            hint = "; a list needs [] at the end" if isinstance(value, list) else ""
            raise UserError(f"--fields {path.text}: {shown(at)} holds {_kind(value)}, not text{hint}")
        yield at, value
        return
    step, rest = steps[0], steps[1:]
    if step is None:
        if not isinstance(value, list):
            raise UserError(f"--fields {path.text}: {shown(at)} holds {_kind(value)}, not a list: leave out its []")
        for number, element in enumerate(value):
            yield from _walk(element, rest, (*at, number), path)
        return
    if not isinstance(value, Mapping):
        hint = "; write [] after it for its elements" if isinstance(value, list) else ""
        raise UserError(f"--fields {path.text}: {shown(at)} holds {_kind(value)} and no {step}{hint}")
    if step not in value:
        names = ", ".join(map(str, value)) or "nothing"
        where = f"{shown(at)} has" if at else "there is"
        raise UserError(f"--fields {path.text}: {where} no {step!r}, only {names}")
    yield from _walk(value[step], rest, (*at, step), path)


def put(row: dict[str, Any], address: Address, text: str) -> None:
    """Replace the text at an address that `texts_at` gave."""
    place: Any = row
    for step in address[:-1]:
        place = place[step]
    place[address[-1]] = text


def shown(address: Address) -> str:
    """An address for people: `choices.text[2]`."""
    out = ""
    for step in address:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out or "the row"


def text_paths(row: Mapping[str, Any]) -> list[str]:
    """The paths of a row that lead to texts, for a message or a first look."""
    found: dict[str, None] = {}

    def look(value: Any, at: str) -> None:
        if isinstance(value, str):
            found[at] = None
        elif isinstance(value, Mapping):
            for name, part in value.items():
                escaped = re.sub(r"([.\[\]\\])", r"\\\1", str(name))
                look(part, f"{at}.{escaped}" if at else escaped)
        elif isinstance(value, list):
            for part in value:
                look(part, f"{at}[]")

    look(row, "")
    return list(found)


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "an object" if isinstance(value, Mapping) else type(value).__name__)
