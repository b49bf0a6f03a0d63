"""Words of an Italian answer, as the parser compares them."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:'(?=\W|$))?")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "´": "'", "`": "'"})
# An accent written as an apostrophe at the end of a word: "affidabilita'", "e' positiva", "ne' l'uno".
_FINAL_ACCENT = {"e'": "è", "ne'": "né", "puo'": "può", "cosi'": "così", "piu'": "più", "da'": "dà"}


def tokenize(text: str) -> tuple[str, ...]:
    """Split text into case-folded NFC words.

    An apostrophe ends a word ("l'affidabilità" is two words: "l", "affidabilità"), both apostrophes alike; punctuation,
    markup and emoji separate words and disappear.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).translate(_APOSTROPHES)
    return tuple(_FINAL_ACCENT.get(word, word.rstrip("'")) for word in _WORD.findall(folded))


def fold_accents(word: str) -> str:
    """The word without accents: "affidabilità" and "affidabilita" are one form."""
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char))
