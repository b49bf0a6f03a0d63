"""Which texts a submission may hold: one line of plain writing, which no page, terminal or file system can mistake."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from lm_eval_ita.results.submission_json import Problem, shown, walk

__all__ = ["path_of", "text_problem", "text_problems"]

_LINKS = (("facts", "link"), ("facts", "samples"))
# The longest that any field allows (the statement on contamination).
_LONGEST = 1500
_MOST_MARKS = 2
_RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
_MARKUP = re.compile(r"[<>`]|\]\(|\[\[|&#?\w{1,32};|\{\{|\{%")
_SCHEME = re.compile(r"(?i)\b(?:javascript|vbscript) ?:|\bdata:\w+/|\b(?!https:)[a-z][a-z0-9+-]{1,20}://")
# /home/me/model, C:\model, \\server\share, ~/model, ../model
_PATH = re.compile(r"(?:^|[\s=:,;'\"(])(?:/[\w.@+-]+){2,}|\b[A-Za-z]:[\\/]|\\\\|(?:^|\s)~/|\.\.[/\\]")


def text_problems(content: Any) -> Iterator[Problem]:
    """What is wrong with the texts of parsed JSON, keys among them, in the order of the file."""
    for path, value in walk(content):
        if isinstance(value, str) and (problem := text_problem(value, is_link=path in _LINKS)):
            yield Problem(path_of(path), *problem)


def path_of(path: tuple[str, ...]) -> str:
    """A field's name for a message, whatever its keys hold."""
    return ".".join(map(shown, path)) or "file"


def text_problem(text: str, *, is_link: bool = False) -> tuple[str, str] | None:
    """What is wrong with one text, and the mend; None where it may stand.

    Args:
        text: As parsed.
        is_link: Whether it is a link, whose own rules (`submission_facts`) are stricter in what is refused here.
    """
    if len(text) > _LONGEST:
        return f"has {len(text):,} characters", f"at most {_LONGEST:,} are taken"
    if not (text.isascii() and text.isprintable()) and (problem := _writing_problem(text)):
        return problem
    if is_link:
        return None
    if found := _MARKUP.search(text):
        return f"holds markup ('{shown(found[0])}')", "write plain text"
    if found := _SCHEME.search(text):
        return f"holds a link that is not https ('{shown(found[0])}')", "leave it out, or give an https link"
    if found := _PATH.search(text):
        return f"holds a path of a machine ('{shown(found[0].strip())}')", "leave it out: names are enough"
    return None


def _writing_problem(text: str) -> tuple[str, str] | None:
    for character in text:
        if problem := _character(character):
            return f"holds {problem}", "write it in plain characters"
    if unicodedata.normalize("NFC", text) != text:
        return "is not in Unicode's composed form (NFC)", "write accented letters as one character"
    if _longest_marks(text) > _MOST_MARKS:
        return f"holds a letter with more than {_MOST_MARKS} accents", "write it in plain characters"
    return None


def _character(character: str) -> str | None:
    if character == " ":
        return None
    category = unicodedata.category(character)
    name = unicodedata.name(character, "") or "no name"
    where = f"U+{ord(character):04X} ({name.lower()})"
    if unicodedata.bidirectional(character) in _RIGHT_TO_LEFT:
        return f"a right-to-left character, {where}"
    if category[0] in "CZ":
        kind = "an unpaired surrogate" if category == "Cs" else "a control, invisible or unassigned character"
        return f"{kind}, {where}"
    return None


def _longest_marks(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        longest = max(longest, run)
    return longest
