"""What a translation must leave alone: code, formulas, addresses, blanks, bracketed markers, numbers.

All but numbers are taken out of a sentence before a model sees it and put back afterwards; numbers stay in, since a
sentence reads badly without them. Both are looked for afterwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lm_eval_ita.translate.numbers import equal_numbers

__all__ = ["Item", "Masked", "has_words", "items", "lost_and_added", "mask", "unmask"]


@dataclass(frozen=True)
class Item:
    """A protected part of a text.

    Attributes:
        kind: "code", "url", "formula", "blank", "marker" or "number".
        text: As it stands there.
        start, end: Where, in characters.
    """

    kind: str
    text: str
    start: int
    end: int


# The first kind that fits wins, from left to right. Lengths are bounded: a stray bracket protects nothing.
_KINDS = {
    "code": r"```.{1,20000}?```|`[^`\n]{1,400}`",
    "url": r"(?:https?://|www\.)[^\s<>\"«»]*[^\s<>\"«».,;:!?)\]}']|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+",
    "formula": (
        r"\$\$.{1,2000}?\$\$|\$(?=\S)[^$\n]{0,200}?(?:[\\^_={}]|(?<=\$)[A-Za-z](?=\$))[^$\n]{0,200}?(?<=\S)\$"
        r"|\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\]|\\[a-zA-Z]+(?:\{[^{}\n]{0,200}\})+"
        r"|(?<![\w.])(?!\d+(?:st|nd|rd|th|s|am|pm|bn|esim[oaie])\b)(?=[\w^]*[A-Za-z])(?=[\w^]*[\d^])[A-Za-z\d]+(?:[\^_]?[A-Za-z\d]+|\^[-+]\d+)+(?![\w.]\w)"
    ),
    "blank": r"_{2,}",
    "marker": r"\[[^\[\]\n]{1,40}\]|</?[A-Za-z][^<>\n]{0,80}>|\{[^{}\n]{0,40}\}|%[sd]\b",
    "number": r"(?<![\w.,])[-−+]?\d+(?:[.,:/]\d+)*(?:\s?%)?(?![A-Za-z\d])|(?<![\w.,])\d+(?=s\b)",
}
_PATTERN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()), re.DOTALL)
# Kinds of brackets for what stands in an item's place; one that the text itself does not hold is taken.
_STANDS = (("<", ">"), ("{", "}"), ("[[", "]]"), ("⟨", "⟩"))


def items(text: str) -> list[Item]:
    """The protected parts of a text, from left to right; they do not overlap."""
    return [
        Item(match.lastgroup or "", match[0], match.start(), match.end())
        for match in _PATTERN.finditer(text)
        if match[0]
    ]


@dataclass(frozen=True)
class Masked:
    """A text whose protected parts are taken out.

    Attributes:
        text: With `<1>`, `<2>` ... in their places.
        originals: What stood there, in order.
        brackets: Which kind of brackets.
    """

    text: str
    originals: tuple[str, ...]
    brackets: tuple[str, str]


def mask(text: str) -> Masked:
    """Take out all protected parts but numbers."""
    brackets = next(
        (pair for pair in _STANDS if not re.search(rf"{re.escape(pair[0])}\s*\d+\s*{re.escape(pair[1])}", text)), None
    )
    if brackets is None:
        return Masked(text, (), _STANDS[0])
    pieces, originals, position = [], [], 0
    for item in items(text):
        if item.kind != "number":
            originals.append(item.text)
            pieces += [text[position : item.start], f"{brackets[0]}{len(originals)}{brackets[1]}"]
            position = item.end
    return Masked("".join([*pieces, text[position:]]), tuple(originals), brackets)


def unmask(text: str, masked: Masked) -> tuple[str, bool]:
    """Put the protected parts back into a translation.

    Returns:
        The text, and whether each part had its place exactly once.
    """
    opening, closing = map(re.escape, masked.brackets)
    seen: Counter[int] = Counter()

    def original(match: re.Match[str]) -> str:
        number = int(match[1])
        if not 1 <= number <= len(masked.originals):
            return match[0]
        seen[number] += 1
        return masked.originals[number - 1]

    back = re.sub(rf"{opening}\s*(\d{{1,4}})\s*{closing}", original, text) if masked.originals else text
    return back, all(seen[number] == 1 for number in range(1, len(masked.originals) + 1))


def has_words(text: str) -> bool:
    """Whether there is anything to translate: a letter outside of what is protected."""
    rest = text
    for item in reversed(items(text)):
        rest = f"{rest[: item.start]} {rest[item.end :]}"
    return any(character.isalpha() for character in rest)


def lost_and_added(source: str, translation: str) -> tuple[list[str], list[str]]:
    """Protected parts of a sentence that its translation lacks, and those that it has beyond them.

    Numbers are compared by value: 1,500 is 1.500 in Italian, 3.5 is 3,5, and small ones may be words.
    """
    before, after = items(source), items(translation)
    lost: list[str] = []
    left = Counter(item.text for item in after if item.kind != "number")
    for item in before:
        if item.kind != "number":
            if left[item.text] > 0:
                left[item.text] -= 1
            else:
                lost.append(item.text)
    numbers = [item.text for item in after if item.kind == "number"]
    lost_numbers, added_numbers = equal_numbers(_numbers(source, before), numbers, source, translation)
    added = [text for text, count in left.items() for _ in range(count)]
    return [*lost, *lost_numbers], [*added, *added_numbers]


def _numbers(text: str, found: Sequence[Item]) -> list[str]:
    """With the s of decades: 1960s may be written anni '60."""
    numbers = [item for item in found if item.kind == "number"]
    return [item.text + ("s" if text[item.end : item.end + 1] == "s" else "") for item in numbers]
