"""Texts as sentences and the separators between them. Joining them again gives the text, byte for byte."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lm_eval_ita.translate.protect import items

__all__ = ["LONGEST", "Pieces", "pieces"]

# In characters. Longer sentences are cut at a space: models were trained on sentences, and loop on long texts.
LONGEST = 1200
# Line ends and tabs are separators wherever they stand: a model would lose them.
_BREAK = re.compile(r"(?<!\s)\s*[^\S ]\s*")


@dataclass(frozen=True)
class Pieces:
    """A text in pieces.

    Attributes:
        separators: What stands before the first sentence, between two, and after the last: one more than sentences.
        sentences: None is empty, and none begins or ends with white space.
    """

    separators: tuple[str, ...]
    sentences: tuple[str, ...]

    def join(self, sentences: Sequence[str] | None = None) -> str:
        """The text, with other sentences in the place of its own.

        Raises:
            ValueError: There are not as many.
        """
        given = self.sentences if sentences is None else sentences
        if len(given) != len(self.sentences):
            raise ValueError(f"{len(given)} sentences for {len(self.sentences)}")
        pairs = zip(self.separators, (*given, ""), strict=True)
        return "".join(part for pair in pairs for part in pair)


def pieces(text: str, bounds: Iterable[tuple[int, int]]) -> Pieces:
    """Cut a text into sentences.

    Args:
        text: Any text.
        bounds: Where a splitter sees sentences begin and end. Ends that lie inside something protected are left out,
            line ends and tabs outside of it are added, and what no sentence covers is one of its own.
    """
    protected = [(item.start, item.end) for item in items(text) if item.end - item.start > 1]
    cuts = {0, len(text)}
    for start, end in bounds:
        cuts |= {start, end}
    for gap in _BREAK.finditer(text):
        cuts |= {gap.start(), gap.end()}
    kept = sorted(cut for cut in cuts if 0 <= cut <= len(text) and not _inside(cut, protected))
    spans = [_trimmed(text, start, end) for start, end in itertools.pairwise(kept)]
    whole = [part for start, end in spans if start < end for part in _short(text, start, end, protected)]
    separators, position = [], 0
    for start, end in whole:
        separators.append(text[position:start])
        position = end
    return Pieces((*separators, text[position:]), tuple(text[start:end] for start, end in whole))


def _inside(cut: int, protected: Sequence[tuple[int, int]]) -> bool:
    # They are in order and do not overlap: only the last one that begins before the cut can hold it.
    number = bisect.bisect_left(protected, (cut, 0)) - 1
    return number >= 0 and protected[number][0] < cut < protected[number][1]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - (len(part) - len(part.rstrip()))


def _short(text: str, start: int, end: int, protected: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Cut what is too long at spaces; a "word" that is too long stays as it is."""
    while end - start > LONGEST:
        cut = text.rfind(" ", start, start + LONGEST)
        while cut > start and _inside(cut, protected):
            cut = text.rfind(" ", start, cut)
        if cut <= start:
            break
        yield _trimmed(text, start, cut)
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end
