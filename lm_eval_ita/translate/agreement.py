"""Gender and number where a question ends and an option begins. Only what a rule can see; a doubt is no finding."""

from __future__ import annotations

import re

__all__ = ["disagreement"]

# Article, or preposition with article: (gender, number); None for both genders.
_BARE = {
    "il": ("m", "s"), "lo": ("m", "s"), "la": ("f", "s"), "un": ("m", "s"), "uno": ("m", "s"), "una": ("f", "s"),
    "i": ("m", "p"), "gli": ("m", "p"), "le": ("f", "p"),
}  # fmt: skip
_JOINED = {
    prefix + ending: form
    for prefix in ("de", "a", "da", "ne", "su")
    for ending, form in (
        ("l", ("m", "s")), ("llo", ("m", "s")), ("lla", ("f", "s")),
        ("i", ("m", "p")), ("gli", ("m", "p")), ("lle", ("f", "p")),
    )
}  # fmt: skip
_ARTICLES = {**_BARE, **_JOINED}
# These words are something else as well: "i" and "le" at an end are articles, "ai" and "da" may be others.
_ENDINGS = (
    ("zione", ("f", "s")), ("sione", ("f", "s")), ("gione", ("f", "s")), ("tà", ("f", "s")), ("tù", ("f", "s")),
    ("trice", ("f", "s")), ("enza", ("f", "s")), ("anza", ("f", "s")), ("ezza", ("f", "s")),
    ("zioni", ("f", "p")), ("sioni", ("f", "p")), ("trici", ("f", "p")), ("enze", ("f", "p")), ("ezze", ("f", "p")),
    ("mento", ("m", "s")), ("ismo", ("m", "s")), ("aggio", ("m", "s")), ("tore", ("m", "s")),
    ("menti", ("m", "p")), ("ismi", ("m", "p")), ("aggi", ("m", "p")), ("tori", ("m", "p")),
)  # fmt: skip
_EXCEPTIONS = frozenset(("metà", "papà", "menti", "tori", "saggi", "raggi", "contorsione", "podestà"))
_BLANK = re.compile(r"[\s_…:.]+$")
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=\s|$)|(?=['’]))?", re.UNICODE)
_NUMBERS = {"s": "singular", "p": "plural"}
_GENDERS = {"m": "masculine", "f": "feminine"}


def disagreement(question: str, option: str) -> str | None:
    """Why an option cannot follow its question; None where it can, or where that cannot be seen.

    Seen are a question that ends with an article before an option that begins with one, or with a noun whose ending
    tells another gender or number; and one that ends with "è" or "sono" before an article of the other number.
    """
    if question.rstrip().endswith(("?", "!")):
        return None
    words = _WORD.findall(_BLANK.sub("", question).casefold())
    first = _WORD.match(option.strip().casefold())
    if not words or first is None:
        return None
    last, begin = words[-1], first[0]
    if last in _ARTICLES and not _BLANK.sub("", question).endswith("."):
        return _after_article(last, begin, option)
    if last in ("è", "sono") and begin in _BARE and not _several(option):
        wanted, found = "s" if last == "è" else "p", _BARE[begin][1]
        if wanted != found:
            return f"«{last}» before a {_NUMBERS[found]}: «{begin}»"
    return None


def _after_article(article: str, begin: str, option: str) -> str | None:
    if begin in _BARE and re.match(r"\S+\s", option.strip()):
        return f"two articles: «{article} {begin}»"
    form = next((form for ending, form in _ENDINGS if begin.endswith(ending) and begin not in _EXCEPTIONS), None)
    if form is None or form == _ARTICLES[article]:
        return None
    gender, number = form
    what = _GENDERS[gender] if gender != _ARTICLES[article][0] else _NUMBERS[number]
    return f"«{article}» before a {what} noun: «{begin}»"


def _several(option: str) -> bool:
    """Whether an option may name several things: with "e", "o" or a comma."""
    return "," in option or re.search(r"\b(?:e|ed|o|od|né)\b", option.casefold()) is not None
