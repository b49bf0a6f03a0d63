"""What the columns of a table hold: types as the catalogue has them, and what they may be good for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Facts", "Kind", "describe", "value_of"]

Row = Mapping[str, Any]
Kind = Literal["str", "int", "bool", "strings", "ints"]
_MOST_VALUES = 50


@dataclass(frozen=True)
class Facts:
    """A column over all rows.

    Attributes:
        name: Its name, "outer.inner" for a field of a nested record.
        kind: Its type in the catalogue; None for one that the catalogue does not take (fractions, nested lists).
        values: Its distinct values in order of appearance, where they are few.
        blank: Whether some rows hold an empty text, alone or in a list.
        missing: Whether some rows lack it.
        length: Mean length of its texts in characters; 0 where it holds none.
    """

    name: str
    kind: Kind | None
    values: tuple[Any, ...] | None
    blank: bool
    missing: bool
    length: float


def value_of(row: Row, name: str) -> Any:
    """A column's value, also a nested one's; None where it is missing."""
    outer, _, inner = name.partition(".")
    if name in row or not inner:
        return row.get(name)
    found = row.get(outer)
    return found.get(inner) if isinstance(found, dict) else None


def describe(rows: Sequence[Row]) -> dict[str, Facts]:
    """The columns of a table in order, by name."""
    return {name: _facts(name, [value_of(row, name) for row in rows]) for name in _names(rows)}


def _names(rows: Iterable[Row]) -> list[str]:
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            inner = [f"{name}.{key}" for key in value] if isinstance(value, dict) else [name]
            names.update(dict.fromkeys(inner))
    return list(names)


def _facts(name: str, values: Sequence[Any]) -> Facts:
    present = [value for value in values if value is not None]
    texts = [
        text for value in present for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)
    ]
    return Facts(
        name=name,
        kind=_kind(present),
        values=_distinct(present),
        blank=any(not text.strip() for text in texts),
        missing=len(present) < len(values),
        length=sum(map(len, texts)) / len(texts) if texts else 0.0,
    )


def _kind(values: Sequence[Any]) -> Kind | None:
    """The narrowest type that takes every value; text that only holds numbers, as in CSV, is numbers."""
    types = {type(value) for value in values}
    if types == {bool}:
        return "bool"
    if types == {int}:
        return "int"
    if types == {str}:
        return "int" if all(_is_number(value) for value in values) else "str"
    if types == {list}:
        inner = {type(item) for value in values for item in value}
        if inner == {str} and all(values):
            return "strings"
        if inner == {int} and all(values):
            return "ints"
    return None


def _is_number(text: str) -> bool:
    """Whether a text is a whole number and nothing else: "007" is a name."""
    return text.removeprefix("-").isdecimal() and text.isascii() and str(int(text)) == text


def _distinct(values: Sequence[Any]) -> tuple[Any, ...] | None:
    found: dict[Any, None] = {}
    for value in values:
        if not isinstance(value, str | int):
            return None
        found[value] = None
        if len(found) > _MOST_VALUES:
            return None
    return tuple(found)
