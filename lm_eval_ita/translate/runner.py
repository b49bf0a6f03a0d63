"""Translating rows: sentences, each different one once, in batches by length; what was asked stays asked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lm_eval_ita.translate.paths import Address, FieldPath, put, shown, texts_at
from lm_eval_ita.translate.protect import Masked, has_words, lost_and_added, mask, unmask
from lm_eval_ita.translate.source import Source
from lm_eval_ita.translate.split import LONGEST, Pieces, pieces
from lm_eval_ita.translate.splitters import Splitter
from lm_eval_ita.translate.translators import Output, Translator
from lm_eval_ita.translate.work import Log

__all__ = ["COLUMN", "Asking", "Field", "TranslatedRow", "as_row", "split_rows", "translate_rows"]

# The column of a translated row that says how it came about.
COLUMN = "_translation"
_SPLIT_BATCH = 64

# (what is being done, done so far, in all)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Field:
    """One text of a row.

    Attributes:
        path: The path that it was found by.
        address: Where it is.
        pieces: Its sentences and separators.
        translations: One for each sentence; empty before it is translated.
        unfinished: Whether a model had to be stopped in it.
        changes: Settings that differ from those of the run, after `--fix`.
    """

    path: str
    address: Address
    pieces: Pieces
    translations: tuple[str, ...] = ()
    unfinished: bool = False
    changes: Mapping[str, Any] | None = None

    @property
    def source(self) -> str:
        """The original text."""
        return self.pieces.join()

    @property
    def text(self) -> str:
        """The translation, with the separators of the original."""
        return self.pieces.join(self.translations)


@dataclass(frozen=True)
class TranslatedRow:
    """A row and its texts."""

    row: Mapping[str, Any]
    fields: tuple[Field, ...]


def split_rows(
    source: Source, paths: Sequence[FieldPath], splitter: Splitter, log: Log, progress: Progress
) -> list[TranslatedRow]:
    """Cut all texts of all rows into sentences; what the log holds is not cut again."""
    found = [[(path, *place) for path in paths for place in texts_at(row, path)] for row in source.rows]
    texts = dict.fromkeys(text for row in found for _, _, text in row)
    todo = [text for text in texts if text not in log]
    for start in range(0, len(todo), _SPLIT_BATCH):
        progress("splitting", start, len(todo))
        batch = todo[start : start + _SPLIT_BATCH]
        log.add(batch, splitter.bounds(batch))
    cut = {text: pieces(text, [(start, end) for start, end in log[text]]) for text in texts}
    return [
        TranslatedRow(row, tuple(Field(path.text, address, cut[text]) for path, address, text in places))
        for row, places in zip(source.rows, found, strict=True)
    ]


class Asking:
    """A model that is asked, and the log of what it answered.

    Args:
        make: Makes the model, when the first sentence is to be asked.
        log: What was asked before.
        batch_size: Sentences at a time.
        progress: Told how far it is.
        what: What is told.
        changes: Settings of the model to be changed first (`--fix`).
    """

    def __init__(
        self,
        make: Callable[[], Translator],
        log: Log,
        batch_size: int,
        progress: Progress,
        what: str = "translating",
        changes: Mapping[str, Any] | None = None,
    ) -> None:
        self._make, self._log, self._batch_size, self._progress, self._what = make, log, batch_size, progress, what
        self.changes = changes or {}
        self.asked = 0

    def __call__(self, texts: Iterable[str]) -> None:
        """Ask for every text that the log does not hold: the longest first, so that a lack of memory shows at once."""
        todo = sorted({text for text in texts if text not in self._log}, key=lambda text: (-len(text), text))
        if not todo:
            return
        translator = self._make()
        if self.changes:
            translator = _varied(translator, self.changes)
        for start in range(0, len(todo), self._batch_size):
            self._progress(self._what, start, len(todo))
            batch = todo[start : start + self._batch_size]
            outputs = translator.translate(batch)
            self._log.add(batch, [[output.text, output.finished] for output in outputs])
            self.asked += len(batch)
        self._progress(self._what, len(todo), len(todo))

    def answer(self, text: str) -> Output:
        """What was answered."""
        return Output(*self._log[text])


def _varied(translator: Any, changes: Mapping[str, Any]) -> Translator:
    """The same model with other settings."""
    other = copy.copy(translator)
    other._options = replace(translator._options, **changes)
    other.settings = {**translator.settings, **changes}
    result: Translator = other
    return result


def translate_rows(rows: Sequence[TranslatedRow], asking: Asking, *, masked: bool = True) -> list[TranslatedRow]:
    """Translate every sentence of the rows that needs it.

    Where a model loses the place of something protected, the sentence is asked for again as it is, and of the two
    translations the one that keeps more is taken.
    """
    sentences = dict.fromkeys(
        sentence for row in rows for field in row.fields for sentence in field.pieces.sentences if _asks(sentence)
    )
    hidden = {sentence: mask(sentence) if masked else Masked(sentence, (), ("<", ">")) for sentence in sentences}
    asking(one.text for one in hidden.values())
    broken = [text for text, one in hidden.items() if not unmask(asking.answer(one.text).text, one)[1]]
    asking(broken)
    answers = {text: _best(text, hidden[text], asking, again=text in set(broken)) for text in sentences}
    return [
        replace(row, fields=tuple(_translated(field, answers, asking.changes) for field in row.fields)) for row in rows
    ]


def _asks(sentence: str) -> bool:
    return has_words(sentence) and len(sentence) <= LONGEST


def _best(sentence: str, masked: Masked, asking: Asking, *, again: bool) -> Output:
    first = asking.answer(masked.text)
    restored = Output(unmask(first.text, masked)[0], first.finished)
    if not again:
        return restored
    plain = asking.answer(sentence)
    return min((restored, plain), key=lambda output: sum(map(len, lost_and_added(sentence, output.text))))


def _translated(field: Field, answers: Mapping[str, Output], changes: Mapping[str, Any]) -> Field:
    made = [answers.get(sentence, Output(sentence)) for sentence in field.pieces.sentences]
    return replace(
        field,
        translations=tuple(output.text for output in made),
        unfinished=not all(output.finished for output in made),
        changes=dict(changes) or None,
    )


def as_row(row: TranslatedRow, settings: Mapping[str, Any], flags: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The row as it is written: the data set's own columns, its texts translated, and how that came about."""
    made: dict[str, Any] = json.loads(json.dumps(row.row))
    for field in row.fields:
        put(made, field.address, field.text)
    made[COLUMN] = {
        "model": settings.get("model"),
        "settings": dict(settings),
        "flags": list(flags),
        "fields": [
            {
                "path": shown(field.address),
                "source": field.source,
                "separators": list(field.pieces.separators),
                "sentences": list(field.pieces.sentences),
                "translations": list(field.translations),
                **({"changed_settings": dict(field.changes)} if field.changes else {}),
            }
            for field in row.fields
        ],
    }
    return made
