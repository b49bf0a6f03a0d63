"""Checks of rows, with or without their originals: flags by row, counts, examples, and rows to leave out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.translate.checks import KINDS, SEVERE, Flag, check_row
from lm_eval_ita.translate.layout import Layout, Text, right_options
from lm_eval_ita.translate.paths import FieldPath, parse_path, shown, texts_at
from lm_eval_ita.translate.protect import has_words
from lm_eval_ita.translate.runner import TranslatedRow
from lm_eval_ita.translate.split import LONGEST

__all__ = ["Audited", "Report", "audit_rows", "exclusions", "report", "row_id", "translated_texts"]


@dataclass(frozen=True)
class Audited:
    """One row with its flags.

    Attributes:
        identity: Columns that tell it from others: its id, else its first text.
        line: In its file.
        texts: Its texts.
        flags: What may be wrong.
    """

    identity: Mapping[str, Any]
    line: int
    texts: tuple[Text, ...]
    flags: tuple[Flag, ...]

    @property
    def severe(self) -> bool:
        """Whether a flag leaves it without a fair answer."""
        return any(flag.kind in SEVERE for flag in self.flags)


@dataclass(frozen=True)
class Report:
    """Counts over rows.

    Attributes:
        rows: All of them.
        flagged, severe: With a flag, with a severe one.
        counts: Kind to (rows, flags); only kinds that occur, in the order of `KINDS`.
        examples: Kind to flagged rows with the flag, the first ones.
    """

    rows: int
    flagged: int
    severe: int
    counts: Mapping[str, tuple[int, int]]
    examples: Mapping[str, Sequence[tuple[Audited, Flag]]]


def row_id(row: Mapping[str, Any], fields: Sequence[FieldPath]) -> dict[str, Any]:
    """What tells a row from others, in the data and in a run's samples."""
    for name in ("id", "ind", "question_id"):
        if isinstance(row.get(name), str | int):
            return {name: row[name]}
    first = fields[0].steps[0]
    return {} if first is None else {first: row.get(first)}


def audit_rows(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    fields: Sequence[FieldPath],
    layout: Layout,
    originals: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Audited]:
    """Check rows of an Italian data set.

    Args:
        rows: Line and row.
        fields: Paths of their texts.
        layout: What the texts are to each other.
        originals: Rows before translation, by `json.dumps` of `row_id`; those that are missing are done without.
    """
    found = []
    for line, row in rows:
        identity = row_id(row, fields)
        before = (originals or {}).get(json.dumps(identity, sort_keys=True))
        texts = tuple(text for path in fields for text in _texts(row, path, layout, before))
        found.append(Audited(identity, line, texts, tuple(check_row(texts, layout))))
    return found


def _texts(row: Mapping[str, Any], path: FieldPath, layout: Layout, before: Mapping[str, Any] | None) -> Iterable[Text]:
    sources = {} if before is None else dict(texts_at(before, path))
    right = right_options(row, path.text) if path.text in layout.options else set()
    starts = _starts(row) if path.text == layout.answers else []
    for address, target in texts_at(row, path):
        number = address[-1] if isinstance(address[-1], int) else None
        is_right = None if number is None or not right else number in right
        start = starts[number] if number is not None and number < len(starts) else None
        yield Text(path.text, shown(address), number, target, sources.get(address), is_right, start=start)


def _starts(row: Mapping[str, Any]) -> list[int]:
    answers = row.get("answers")
    starts = answers.get("answer_start") if isinstance(answers, Mapping) else None
    return [start for start in starts if isinstance(start, int)] if isinstance(starts, list) else []


def translated_texts(row: TranslatedRow, layout: Layout) -> tuple[Text, ...]:
    """The texts of a row that was translated here."""
    found = []
    for field in row.fields:
        number = field.address[-1] if isinstance(field.address[-1], int) else None
        right = right_options(row.row, field.path) if field.path in layout.options else set()
        too_long = any(len(text) > LONGEST and has_words(text) for text in field.pieces.sentences)
        is_right = None if number is None or not right else number in right
        place = (field.path, shown(field.address), number)
        found.append(Text(*place, field.text, field.source, is_right, field.unfinished, too_long))
    return tuple(found)


def report(audited: Sequence[Audited], examples: int = 3) -> Report:
    """Count flags, and keep the first examples of each kind."""
    rows: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    shown_: dict[str, list[tuple[Audited, Flag]]] = {}
    for one in audited:
        rows.update({flag.kind for flag in one.flags})
        for flag in one.flags:
            flags[flag.kind] += 1
            kept = shown_.setdefault(flag.kind, [])
            if len(kept) < examples and all(other is not one for other, _ in kept):
                kept.append((one, flag))
    counts = {kind: (rows[kind], flags[kind]) for kind in KINDS if rows[kind]}
    flagged, severe = sum(bool(one.flags) for one in audited), sum(one.severe for one in audited)
    return Report(len(audited), flagged, severe, counts, {kind: shown_[kind] for kind in counts})


def exclusions(dataset: str, audited: Sequence[Audited], kinds: frozenset[str]) -> dict[str, Any]:
    """The file of rows that `summary --exclude` leaves out: those with a flag of these kinds."""
    rows = []
    for one in audited:
        found = sorted({flag.kind for flag in one.flags} & kinds)
        if found:
            rows.append({"match": dict(one.identity), "kinds": found})
    return {"schema_version": 1, "dataset": dataset, "kinds": sorted(kinds), "rows_in_all": len(audited), "rows": rows}


def default_fields(paths: Sequence[str]) -> tuple[FieldPath, ...]:
    """Paths, read."""
    return tuple(parse_path(path) for path in paths)
