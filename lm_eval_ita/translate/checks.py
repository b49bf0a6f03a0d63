"""What may be wrong with a translated row, as flags. Rules only; each says what it saw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lm_eval_ita.translate import options as option_checks
from lm_eval_ita.translate.language import other_language
from lm_eval_ita.translate.layout import Layout, Text
from lm_eval_ita.translate.protect import has_words, lost_and_added

__all__ = ["KINDS", "SEVERE", "Flag", "check_row"]

# Kind to what it means, in the order of reports.
KINDS = {
    "empty": "a text without a translation",
    "unfinished": "the model had to be stopped",
    "too_long": "one word of more than 1,200 characters, left as it is",
    "untranslated": "equal to the original",
    "language": "surely in another language than Italian",
    "length": "less than half, or more than twice as long as the original",
    "protected_lost": "a number, formula, address, blank or marker of the original is missing",
    "protected_added": "a number, formula, address, blank or marker that the original lacks",
    "repetition": "words that go round in circles",
    "damaged": "characters of a wrong decoding, or HTML entities",
    "equal_options": "two options that were different became equal",
    "right_equals_wrong": "a right and a wrong option are equal",
    "option_in_option": "an option holds the whole of another",
    "answer_in_question": "the question holds the right option, and no other",
    "agreement": "an option does not go with the article or verb before it",
    "answer_not_in_context": "an answer that is not in its passage",
    "answer_start": "an answer that is not where the row says it is",
    "back_translation": "translated back, it is far from the original",
}
# Those that leave a row without a fair answer, and out of a score if one wishes.
SEVERE = frozenset(
    [
        *("empty", "untranslated", "language", "repetition", "damaged", "equal_options", "right_equals_wrong"),
        *("answer_not_in_context", "answer_start", "unfinished", "protected_lost"),
    ]
)
_DAMAGED = re.compile(r"\ufffd|&(?:[a-z]{2,6}|#\d{2,5});|Ã[\x80-\xbf©¨²¹¬ ]|â€[™œ\x9d“”]|Â[\xa0°»«]")
_SENTENCE = 4  # words: so many that are equal in both languages are no coincidence
_WORD = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)


@dataclass(frozen=True)
class Flag:
    """Something that may be wrong.

    Attributes:
        kind: Of `KINDS`.
        where: The text, as `choices.text[2]`; two of them joined by " = " or " in ".
        detail: What was seen.
        paths: All texts that it is about.
    """

    kind: str
    where: str
    detail: str
    paths: tuple[str, ...]


def check_row(texts: Sequence[Text], layout: Layout) -> list[Flag]:
    """All checks of one row.

    Args:
        texts: Its texts; their originals too, where they are known.
        layout: What they are to each other.
    """
    found = [flag for text in texts for flag in _alone(text)]
    # An answer is a part of its passage, often a name: its language says nothing.
    found = [flag for flag in found if flag.kind != "language" or flag.where not in _answers(texts, layout)]
    for kind, first, second, detail in option_checks.check(texts, layout):
        where = first.where if second is None else f"{first.where} & {second.where}"
        paths = (first.where,) if second is None else (first.where, second.where)
        found.append(Flag(kind, where, detail, paths))
    return found


def _answers(texts: Sequence[Text], layout: Layout) -> set[str]:
    return {text.where for text in texts if text.path == layout.answers}


def _alone(text: Text) -> Iterator[Flag]:
    """The checks of one text."""
    for kind, detail in _findings(text):
        yield Flag(kind, text.where, detail, (text.where,))


def _findings(text: Text) -> Iterator[tuple[str, str]]:
    source, target = text.source, text.target
    if not target.strip():
        if source is None or source.strip():
            yield "empty", "" if source is None else source[:80]
        return
    if text.unfinished:
        yield "unfinished", target[-80:]
    if text.too_long:
        yield "too_long", f"{len(target):,} characters"
        return
    # Names and titles stay as they are, and have no language.
    if not _proper(target):
        same = source is not None and _folded(source) == _folded(target) and has_words(target)
        foreign = other_language(target)
        if same and (foreign or len(target.split()) >= _SENTENCE):
            yield "untranslated", target[:80]
        elif foreign:
            yield "language", f"{foreign}: {target[:80]}"
    if source is not None:
        yield from _beside(source, target)
    if (again := repeated(target)) and (source is None or not repeated(source)):
        yield "repetition", again
    if (damaged := _DAMAGED.search(target)) and (source is None or not _DAMAGED.search(source)):
        yield "damaged", target[max(0, damaged.start() - 20) : damaged.end() + 20]


def _beside(source: str, target: str) -> Iterator[tuple[str, str]]:
    # Short texts vary: "Mass" is "Massa", "Gas" is "Sostanza gassosa".
    low, high = 0.5 * len(source) - 10, 2.0 * len(source) + 15
    if not low <= len(target) <= high:
        yield "length", f"{len(target)} characters for {len(source)}"
    lost, added = lost_and_added(source, target)
    if lost:
        yield "protected_lost", ", ".join(lost[:5])
    if added:
        yield "protected_added", ", ".join(added[:5])


def repeated(text: str) -> str | None:
    """The words that a text repeats: the same one to eight words three times or more on end (one word: four times)."""
    words = [word.casefold() for word in _WORD.findall(text)]
    for size in range(1, 9):
        times = 4 if size == 1 else 3
        run = 0
        for i in range(size, len(words)):
            run = run + 1 if words[i] == words[i - size] else 0
            if run >= size * (times - 1) and not all(word.isdigit() for word in words[i - size + 1 : i + 1]):
                return " ".join(words[i - size + 1 : i + 1])
    return None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _proper(text: str) -> bool:
    """Whether most long words are capitalised, as in names and titles."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 3]
    return sum(word[0].isupper() for word in words) > 0.6 * len(words) or not words
