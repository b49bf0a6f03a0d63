"""The file in which a person mends what rules found, and merging it back.

A CSV that any spreadsheet opens: one line a flagged text. Whoever reviews it fills the column `edited`: a better
translation, or the same text again where the flag was wrong. Lines without it stay flagged.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita.catalogue.readers import RowError, read
from lm_eval_ita.errors import UserError
from lm_eval_ita.results.summary import spreadsheet_text
from lm_eval_ita.translate.paths import Address, parse_path, put, shown, texts_at
from lm_eval_ita.translate.runner import COLUMN
from lm_eval_ita.translate.work import sha

__all__ = ["COLUMNS", "merge", "review_text"]

COLUMNS = ("row", "where", "flags", "details", "source", "translation", "edited", "key")


def review_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The review file of translated rows: their flagged texts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, row in enumerate(rows, start=1):
        about = row[COLUMN]
        flags: dict[str, list[Mapping[str, str]]] = {}
        for flag in about["flags"]:
            for path in flag["paths"]:
                flags.setdefault(path, []).append(flag)
        for field in about["fields"]:
            found = flags.get(field["path"], [])
            if not found:
                continue
            text = _text(row, field["path"])
            kinds = ", ".join(dict.fromkeys(flag["kind"] for flag in found))
            details = " | ".join(flag["detail"] for flag in found)
            shown_ = [spreadsheet_text(value) for value in (details, field["source"], text)]
            writer.writerow([number, field["path"], kinds, *shown_, "", sha(text)[:12]])
    return out.getvalue()


def merge(target: Path, review: Path, out: Path) -> tuple[int, int]:
    """Put what a person wrote into a translated file. Flags of edited texts are dropped, since a person has looked.

    Args:
        target: The translated file.
        review: The review file, edited.
        out: Where the result goes; may be `target`.

    Returns:
        How many texts were edited, and how many flags are left.

    Raises:
        UserError: A file is not what it should be, or a text has changed since the review file was made.
    """
    rows = _translated(target)
    edited = 0
    for line, entry in read(review, "csv"):
        if isinstance(entry, RowError):
            raise UserError(str(entry), file=review, line=line)
        if missing := [name for name in COLUMNS if name not in entry]:
            raise UserError(f"lacks the column {missing[0]}; keep those that the file was made with", file=review)
        text = _plain(entry["edited"])
        if text.strip():
            _put(rows, entry, text, review, line)
            edited += 1
    write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return edited, sum(len(row[COLUMN]["flags"]) for row in rows)


def _put(rows: Sequence[dict[str, Any]], entry: Mapping[str, str], text: str, review: Path, line: int) -> None:
    number, where = entry["row"], entry["where"]
    if not number.isdigit() or not 1 <= int(number) <= len(rows):
        raise UserError(f"row {number!r}: there are {len(rows)} rows", file=review, line=line)
    row = rows[int(number) - 1]
    about = row[COLUMN]
    field = next((field for field in about["fields"] if field["path"] == where), None)
    if field is None:
        raise UserError(f"row {number} has no text {where!r}", file=review, line=line)
    if sha(_text(row, where))[:12] != entry["key"]:
        raise UserError(f"row {number}, {where}: has changed since this file was made", file=review, line=line)
    put(row, _address(row, where), text)
    field["edited"] = text
    about["flags"] = [flag for flag in about["flags"] if where not in flag["paths"]]


def _plain(text: str) -> str:
    """Without the apostrophe that `review_text` puts before what a spreadsheet would take for a formula."""
    return text[1:] if text.startswith("'") and text[1:].lstrip()[:1] in ("=", "+", "-", "@") else text


def _translated(path: Path) -> list[dict[str, Any]]:
    rows = []
    for line, row in read(path, "jsonl"):
        if isinstance(row, RowError):
            raise UserError(str(row), file=path, line=line)
        if not isinstance(row.get(COLUMN), dict):
            raise UserError(f"has no {COLUMN}: it is no file of `lm-eval-ita translate`", file=path, line=line)
        rows.append(row)
    if not rows:
        raise UserError("has no rows", file=path)
    return rows


def _address(row: Mapping[str, Any], where: str) -> Address:
    """The address that `shown` wrote as `choices.text[2]`."""
    path = parse_path(re.sub(r"\[\d+\]", "[]", where))
    found = next((address for address, _ in texts_at(row, path) if shown(address) == where), None)
    if found is None:
        raise UserError(f"a row has no text {where!r}")
    return found


def _text(row: Mapping[str, Any], where: str) -> str:
    place: Any = row
    for step in _address(row, where):
        place = place[step]
    return str(place)
