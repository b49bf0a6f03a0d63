"""`--fix`: flagged rows are translated again with other settings, and replaced where that leaves fewer flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lm_eval_ita.translate.audit import translated_texts
from lm_eval_ita.translate.checks import SEVERE, Flag, check_row
from lm_eval_ita.translate.layout import Layout
from lm_eval_ita.translate.paths import shown
from lm_eval_ita.translate.runner import Asking, TranslatedRow, translate_rows

__all__ = ["attempts", "flags_of", "repaired"]


def attempts(settings: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What is tried, one after the other: a wider search where the model has one, else two seeded samples."""
    if "beams" in settings:
        return ({"beams": 5}, {"temperature": 0.3, "seed": 1})
    return ({"temperature": 0.3, "seed": 1}, {"temperature": 0.3, "seed": 2})


def flags_of(row: TranslatedRow, layout: Layout) -> list[Flag]:
    """The flags of a row that was translated here."""
    return check_row(translated_texts(row, layout), layout)


def repaired(
    rows: Sequence[TranslatedRow],
    layout: Layout,
    asking: Callable[[int], Asking],
    tries: int,
    *,
    masked: bool,
) -> list[TranslatedRow]:
    """Translate flagged texts again.

    Args:
        rows: Translated rows.
        layout: What their texts are to each other.
        asking: Makes what is asked in a try, numbered from 0.
        tries: How many there are.
        masked: Whether protected parts are taken out; in the tries after the first they are not.
    """
    best = list(rows)
    for number in range(tries):
        flags = [flags_of(row, layout) for row in best]
        flagged = [place for place, found in enumerate(flags) if found]
        if not flagged:
            break
        chosen = [_flagged_part(best[place], flags[place]) for place in flagged]
        again = translate_rows(chosen, asking(number), masked=masked and number == 0)
        for place, part in zip(flagged, again, strict=True):
            candidate = _with(best[place], part)
            if _weight(flags_of(candidate, layout)) < _weight(flags[place]):
                best[place] = candidate
    return best


def _weight(flags: Sequence[Flag]) -> tuple[int, int]:
    return sum(flag.kind in SEVERE for flag in flags), len(flags)


def _flagged_part(row: TranslatedRow, flags: Sequence[Flag]) -> TranslatedRow:
    wanted = {path for flag in flags for path in flag.paths}
    return replace(row, fields=tuple(field for field in row.fields if shown(field.address) in wanted))


def _with(row: TranslatedRow, part: TranslatedRow) -> TranslatedRow:
    new = {field.address: field for field in part.fields}
    return replace(row, fields=tuple(new.get(field.address, field) for field in row.fields))
