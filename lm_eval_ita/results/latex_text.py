"""Texts in LaTeX: escaped, measured, and broken where they do not fit."""

import re
import unicodedata

__all__ = ["breakable_latex", "latex_text", "text_width"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "‘": "`",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "−": r"$-$",
    "’": "'",
}
_LETTERS = "ßæøœÆØŒåÅłŁı"
# Grave, acute, circumflex, tilde, macron, breve, dot, diaeresis, ring, double acute, caron, cedilla.
_ACCENTS = dict(
    zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327", "`'^~=u.\"rHvc", strict=True)
)
# A word longer than this may be broken where it does not fit, into pieces of so many characters.
_LONG_WORD, _PIECE = 16, 7
_BREAK = r"\penalty500{}"
# Characters of Computer Modern at ten points, rounded up, in points.
_WIDTHS = {
    **dict.fromkeys("iljI.,:;!'|()[] ft", 3.9),
    **dict.fromkeys("mwMW@%", 10.3),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ+=<>&…×−æœÆŒ", 7.9),
}
_OTHER, _CODE_POINT = 5.6, 5.3


def text_width(text: str) -> float:
    """A bound of the width of a text in ten-point type, in points."""
    return sum(map(_character_width, unicodedata.normalize("NFC", text)))


def _character_width(character: str) -> float:
    if character in _LATEX or _is_settable(character):
        return _WIDTHS.get(unicodedata.normalize("NFD", character)[0], _OTHER)
    return _CODE_POINT * len(f"U+{ord(character):04X}")


def _is_settable(character: str) -> bool:
    """Whether LaTeX's own fonts have the character: printable ASCII and Latin letters with one accent."""
    if character.isascii():
        return character.isprintable()
    parts = unicodedata.normalize("NFD", character)
    return character in _LETTERS or (
        len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS
    )


def latex_text(text: str) -> str:
    """A text that shows as itself in LaTeX with UTF-8 input; a character that its fonts lack shows as its number."""
    shown = []
    previous = ""
    for character in unicodedata.normalize("NFC", text):
        if character == previous and character in "-,'":
            shown.append("{}")  # two of them would become a dash or a quotation mark
        if character in _LATEX:
            shown.append(_LATEX[character])
        elif _is_settable(character):
            shown.append(character if character < "\u0100" or character in _LETTERS else _accented(character))
        elif character in "\t\n\r":
            shown.append(" ")
        else:
            shown.append(rf"\texttt{{U+{ord(character):04X}}}")
        previous = character
    return "".join(shown)


def _accented(character: str) -> str:
    # By its parts: UTF-8 input knows only some of the letters beyond Latin-1.
    letter, accent = tuple(unicodedata.normalize("NFD", character))
    dotless = rf"\{letter}" if letter in "ij" else letter
    return rf"\{_ACCENTS[accent]}{{{dotless}}}"


def breakable_latex(text: str) -> str:
    """The same with places where a long word may be broken, without a hyphen."""
    words = unicodedata.normalize("NFC", text).split(" ")
    return " ".join(_BREAK.join(map(latex_text, _pieces(word))) for word in words)


def _pieces(word: str) -> list[str]:
    numbers = sum(not _is_settable(character) and character not in _LATEX for character in word)
    if len(word) + 6 * numbers <= _LONG_WORD:
        return [word]
    if numbers:
        return list(word)
    return re.findall(rf".{{1,{_PIECE}}}?[-/_.:]|.{{1,{_PIECE}}}", word, re.DOTALL)
