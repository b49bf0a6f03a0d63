"""A translation against another one, and against the original by way of translating back: chrF and BLEU (sacrebleu)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from lm_eval_ita.errors import UserError
from lm_eval_ita.translate.audit import row_id
from lm_eval_ita.translate.checks import Flag
from lm_eval_ita.translate.paths import FieldPath, shown, texts_at
from lm_eval_ita.translate.runner import Asking, TranslatedRow
from lm_eval_ita.translate.source import Source

__all__ = ["Agreement", "agreement", "back_flags"]

# chrF below which a text translated back is flagged: so low, few of its words have come back.
_FAR = 30.0


@dataclass(frozen=True)
class Agreement:
    """How far two translations agree.

    Attributes:
        texts: How many were compared.
        equal: How many are equal.
        chrf, bleu: Over all of them, 0 to 100.
    """

    texts: int
    equal: int
    chrf: float
    bleu: float


def agreement(rows: Sequence[TranslatedRow], fields: Sequence[FieldPath], published: Source) -> dict[str, Agreement]:
    """Compare with a published translation: rows by their id, or in order where none of its ids is known.

    Raises:
        UserError: The two do not fit together.
    """
    by_id = {json.dumps(row_id(row, fields), sort_keys=True): row for row in published.rows}
    names = [json.dumps(row_id(row.row, fields), sort_keys=True) for row in rows]
    if any(name in by_id for name in names):
        others = [by_id.get(name) for name in names]
    elif len(rows) == len(published.rows):
        others = list(published.rows)
    else:
        counts = f"{len(published.rows)} rows for {len(rows)}, and no common id"
        raise UserError(f"--published: its rows cannot be paired ({counts})", file=published.name)
    pairs: dict[str, list[tuple[str, str]]] = {}
    for row, other in zip(rows, others, strict=True):
        if other is None:
            continue
        theirs = {address: text for path in fields for address, text in texts_at(other, path)}
        for field in row.fields:
            if field.address in theirs:
                pairs.setdefault(field.path, []).append((field.text, theirs[field.address]))
    return {path: _agreement(found) for path, found in pairs.items()}


def _agreement(pairs: Sequence[tuple[str, str]]) -> Agreement:
    import sacrebleu

    ours, theirs = (list(side) for side in zip(*pairs, strict=True))
    chrf = sacrebleu.corpus_chrf(ours, [theirs]).score
    return Agreement(len(pairs), sum(a == b for a, b in pairs), chrf, sacrebleu.corpus_bleu(ours, [theirs]).score)


def back_flags(rows: Sequence[TranslatedRow], asking: Asking) -> tuple[list[list[Flag]], float]:
    """Translate the translations back, and flag the texts that come back as something else.

    Returns:
        Flags by row, and chrF over all texts.
    """
    import sacrebleu

    asking(text for row in rows for field in row.fields for text in field.translations if text.strip())
    flags: list[list[Flag]] = []
    originals: list[str] = []
    backs: list[str] = []
    for row in rows:
        flags.append([])
        for field in row.fields:
            sentences = [asking.answer(text).text if text.strip() else "" for text in field.translations]
            back = field.pieces.join(sentences)
            score = sacrebleu.sentence_chrf(back, [field.source]).score
            originals.append(field.source)
            backs.append(back)
            if field.source.strip() and score < _FAR:
                where = shown(field.address)
                flags[-1].append(Flag("back_translation", where, f"chrF {score:.0f}: {back[:80]}", (where,)))
    return flags, sacrebleu.corpus_chrf(backs, [originals]).score
