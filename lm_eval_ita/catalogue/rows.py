"""Checked rows: every row of a file, normalised, typed and in NFC, or the first (or every) problem with its line."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lm_eval_ita.catalogue.normalise import CONSISTENT, NORMALISERS, Row
from lm_eval_ita.catalogue.readers import Raw, RowError, read
from lm_eval_ita.catalogue.schema import Column, Entry
from lm_eval_ita.errors import UserError

__all__ = ["Row", "check", "checked", "parse", "problems", "row_hash"]

_FLAGS = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False, 1: True, 0: False}


def row_hash(row: Row) -> str:
    """A stable name for a row's content: the SHA-256 of its canonical JSON, 64 hexadecimal digits.

    Equal rows have equal hashes on every machine, Python version and key order. The row is taken as it is, so hash
    normalised rows (as `load` returns them), not raw ones.
    """
    text = json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def parse(entry: Entry, split: str, raw: Iterable[Raw]) -> Iterator[tuple[int, Row | RowError]]:
    """Normalise and check raw rows, each yielded with its line number; a bad one as its `RowError`."""
    columns = entry.columns_of(split)
    # A catalogue beside task files describes the rows as they are.
    own = entry.home is not None
    normalise, consistent = (dict, None) if own else (NORMALISERS[entry.key], CONSISTENT.get(entry.key))
    for line, values in raw:
        if isinstance(values, RowError):
            yield line, values
            continue
        try:
            row = check(normalise(values), columns)
            if consistent is not None:
                consistent(row)
        except RowError as error:
            yield line, error
        else:
            yield line, row


def checked(entry: Entry, split: str, path: Path, format: str | None = None) -> list[Row]:
    """All rows of a file.

    Raises:
        UserError: The first bad row, by file, line and field; or the file has none.
    """
    return collect(entry, split, read(path, format), path)


def collect(entry: Entry, split: str, raw: Iterable[Raw], path: Path | str) -> list[Row]:
    """All rows of a source that is already opened; `path` names it in the error message."""
    rows: list[Row] = []
    for line, row in parse(entry, split, raw):
        if isinstance(row, RowError):
            raise UserError(f"{entry.key} {split}: {row}", file=path, line=line)
        rows.append(row)
    if not rows:
        raise UserError(f"{entry.key} {split}: the file has no rows", file=path)
    return rows


def problems(entry: Entry, split: str, path: Path) -> tuple[int, list[str]]:
    """How many good rows a file has, and every problem in it as one `file:line: ...` text."""
    good, found = 0, []
    try:
        for line, row in parse(entry, split, read(path)):
            if isinstance(row, RowError):
                found.append(str(UserError(str(row), file=path, line=line)))
            else:
                good += 1
    except UserError as error:
        found.append(str(error))
    if not good and not found:
        found.append(str(UserError("the file has no rows", file=path)))
    return good, found


def check(raw: Row, columns: dict[str, Column]) -> Row:
    """A row that holds exactly `columns`, in their order, with checked values; other columns are dropped.

    Raises:
        RowError: A column is missing, has the wrong type, a label outside its list, or no text where text is needed.
    """
    row: Row = {}
    for name, column in columns.items():
        outer, _, inner = name.partition(".")
        if inner:
            nested = raw.get(outer)
            if nested is not None and not isinstance(nested, dict):
                raise RowError(f"expected an object, found {_shown(nested)}", outer)
            row.setdefault(outer, {})[inner] = _value(nested or {}, inner, name, column)
        else:
            row[outer] = _value(raw, outer, name, column)
    return row


def _value(fields: Row, key: str, name: str, column: Column) -> Any:
    if key not in fields and not column.optional:
        raise RowError(f"the column is missing (there are: {', '.join(map(str, fields)) or 'none'})", name)
    value = fields.get(key)
    if column.optional and (value is None or (value == "" and column.type != "str")):  # "": an empty CSV field
        return None
    if column.type in ("strings", "ints"):
        if not isinstance(value, list | tuple) or not value:
            raise RowError(f"expected a list with at least one item, found {_shown(value)}", name)
        return [_scalar(item, column.type[:-1].replace("string", "str"), name, column) for item in value]
    return _scalar(value, column.type, name, column)


def _scalar(value: Any, kind: str, name: str, column: Column) -> Any:
    if kind == "str":
        converted: Any = _text(value, name, column)
    elif kind == "int":
        converted = _integer(value, name)
    else:
        converted = _FLAGS.get(value) if isinstance(value, str | int) else None
        if converted is None:
            raise RowError(f"expected true or false, found {_shown(value)}", name)
    if column.labels is not None and converted not in column.labels:
        raise RowError(f"{_shown(converted)} is not one of {', '.join(map(repr, column.labels))}", name)
    return converted


def _text(value: Any, name: str, column: Column) -> str:
    if value is None and column.empty:
        return ""
    if not isinstance(value, str):
        raise RowError(f"expected text, found {_shown(value)}", name)
    if not value.strip() and not (column.empty or column.optional):
        raise RowError("the text is empty", name)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise RowError("broken Unicode: half a surrogate pair, which no text file can hold", name)
    return unicodedata.normalize("NFC", value)


def _integer(value: Any, name: str) -> int:
    """An int, also from CSV text and from the floats that pandas makes of a column with gaps; never from a flag."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isascii() and value.strip().removeprefix("-").isdigit():
        return int(value)
    raise RowError(f"expected a whole number, found {_shown(value)}", name)


def _shown(value: Any) -> str:
    """A value for an error message: one line, not too long."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
