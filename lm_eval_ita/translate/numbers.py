"""Whether the numbers of an English sentence are in its Italian translation, by value."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["equal_numbers"]

_ITALIAN = """
zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette
diciotto diciannove venti
""".split()  # noqa: SIM905
_ENGLISH = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
""".split()  # noqa: SIM905
_TENS = {30: "trenta", 40: "quaranta", 50: "cinquanta", 60: "sessanta", 70: "settanta", 80: "ottanta", 90: "novanta"}
_WORDS = {
    **{number: (word,) for number, word in enumerate(_ITALIAN)},
    **{number: (word,) for number, word in _TENS.items()},
    1: ("un", "uno", "una", "un'"),
    100: ("cento",),
    1000: ("mille",),
}


def equal_numbers(
    source: Sequence[str], translation: Sequence[str], source_text: str, translation_text: str
) -> tuple[list[str], list[str]]:
    """Numbers that were lost, and numbers that came in.

    Args:
        source: Numbers of the English text, as written there.
        translation: Those of the Italian one.
        source_text, translation_text: The texts, where numbers may also stand as words.
    """
    left = list(translation)
    lost = []
    words = set(re.findall(r"[^\W\d_]+'?", translation_text.casefold()))
    for number in source:
        wanted = _english(number)
        found = next((other for other in left if wanted & _italian(other)), None)
        if found is not None:
            left.remove(found)
        elif not any(word in words for value in wanted for word in _as_words(value)):
            lost.append(number)
    english = set(re.findall(r"[a-z]+", source_text.casefold()))
    named = {str(number) for number, word in enumerate(_ENGLISH) if word in english}
    ordinals = set(re.findall(r"\d+(?=st\b|nd\b|rd\b|th\b)", source_text))
    return lost, [number for number in left if not _italian(number) & (named | ordinals)]


def _english(number: str) -> set[str]:
    """The values that an English number may have, as plain texts."""
    text = _plain(number)
    if text.endswith("s"):  # the 1960s: anni '60, anni 1960
        return {text[:-1], text[-3:-1]}
    readings = {
        _decimal(text.replace(",", "")) if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text) else _decimal(text)
    }
    # A decimal comma was there already, or a date or a time.
    return readings | {text.replace(",", "."), text}


def _italian(number: str) -> set[str]:
    """The values that an Italian number may have: with Italian separators, or left as in English."""
    text = _plain(number)
    found = {text, _decimal(text), _decimal(text.replace(",", "."))}
    if re.fullmatch(r"-?\d{1,3}(\.\d{3})+(,\d+)?", text):
        found.add(_decimal(text.replace(".", "").replace(",", ".")))
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        found.add(_decimal(text.replace(",", "")))
    return found | {text.replace(".", ":")}  # 5:30 may be written 5.30


def _plain(number: str) -> str:
    return number.replace("−", "-").replace("%", "").lstrip("+").strip()


def _decimal(text: str) -> str:
    """Without zeros at the end of a decimal fraction, and with a zero before the point."""
    if re.fullmatch(r"-?\d+\.\d+", text):
        return text.rstrip("0").rstrip(".")
    return text


def _as_words(value: str) -> tuple[str, ...]:
    return _WORDS.get(int(value), ()) if re.fullmatch(r"\d{1,4}", value) else ()
