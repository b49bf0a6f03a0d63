"""Which of the options a written answer chooses, if it chooses exactly one. Strict: a doubt is no choice.

The rules, in order:

1. Reasoning between think tags is removed; a block that never ends is "unclosed_reasoning". Nothing left is "empty".
2. Markup, quotation marks and bullets are dropped. An option is named by its letter as a word of its own, or by one of
   its words. A letter in "C'è", "D'accordo", "E' vero", "C-14", "A+" is none; nor is "A" or "E" where it can be the
   preposition or the conjunction ("A mio parere"), or a letter beyond the options.
3. An option is *stated* by a line that holds only its name or only its text ("B", "(b).", "B) era piccolo", "era
   piccolo."), by its name at the head of the first line ("B, perché ...", "Sì, la frase ..."), or by a sentence that
   says which the answer is ("La risposta corretta è la B", "Risposta: sì", "B è giusta", "scelgo l'opzione B").
4. It is *mentioned* where the word before points at it ("secondo me la B", "direi di no").
5. A name in a clause with a negation, or called wrong, is *rejected*; one in a question is nothing.
6. Names joined in one breath ("A o B", "sì e no") count together. A list of all options is the question repeated.
7. Exactly one option stated is the choice, whatever else is mentioned; with none stated, exactly one mentioned.
   Two are "ambiguous"; only rejected ones "rejected" (what is left over is never inferred); only a list "echo"; none
   "no_choice" (refusals, explanations without an answer, other languages' yes and no).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Literal

from lm_eval_ita.metrics import _answer_words as words
from lm_eval_ita.metrics._checks import reject_str
from lm_eval_ita.reasoning import without_reasoning

__all__ = ["REASONS", "Parsed", "Reason", "parse_letter", "parse_word"]

Reason = Literal[
    "stated", "mentioned",
    "ambiguous", "echo", "empty", "no_choice", "rejected", "unclosed_reasoning",
]  # fmt: skip
REASONS: tuple[Reason, ...] = (
    "stated", "mentioned",
    "ambiguous", "echo", "empty", "no_choice", "rejected", "unclosed_reasoning",
)  # fmt: skip

_LETTER = re.compile(r"(?<![^\W_])[A-Za-z](?![^\W_])")
# Letters that are Italian (or English) words: a preposition, conjunctions, articles, a pronoun.
_WORDS = frozenset("aeio")
_AFTER_A_LETTER = frozenset(
    ("è", "e", "ed", "o", "oppure", "or", "and", "perché", "poiché", "siccome", "is", "because")
)
_SEPARATOR = re.compile(r"\s*[)\].:-]+\s*(?=\S)")
_OPENING = " (['"
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")


@dataclass(frozen=True)
class Parsed:
    """What an answer chooses.

    Attributes:
        choice: Position of the option, from 0; None where the answer chooses none, or more than one.
        reason: The rule that decided: "stated" or "mentioned" for a choice, else why there is none.
    """

    choice: int | None
    reason: Reason


@dataclass(frozen=True)
class _Name:
    """An option's name in a line: which option, where, and whether only an explicit statement makes it count."""

    option: int
    start: int
    end: int
    shy: bool = False


@dataclass(frozen=True)
class _Naming:
    """What a name does in its line. "listed" has its option's own text after it, "joined" another name beside it."""

    name: _Name
    kind: Literal["stated", "mentioned", "rejected", "listed", "joined", "nothing"]


def parse_letter(answer: str, options: Sequence[str]) -> Parsed:
    """Read the answer to a question whose options are listed under the letters A, B, C, ...

    Args:
        answer: The generated text.
        options: The options' texts, in the order of the letters; at most 26.

    Returns:
        The choice. The texts may hold anything; an answer that is the text of two options is ambiguous.

    Raises:
        ValueError: There are no options, or more than there are letters.
    """
    reject_str(options=options)
    if not 1 <= len(options) <= len(ascii_uppercase):
        raise ValueError(f"{len(options)} options: there must be 1 to {len(ascii_uppercase)}")
    read = _readable(answer)
    if isinstance(read, Parsed):
        return read
    text, held = read
    whole = _with_text(words.exact(text), options)
    if len(held) > 1 and len(whole) == 1:
        return Parsed(whole[0], "stated")
    namings: list[_Naming] = []
    texts, letters = [words.flat(option) for option in options], ascii_uppercase[: len(options)]
    for position, line in enumerate(held):
        shown = words.exact(words.after_heading(line))
        # A letter is a letter, also where an option's text is one.
        owners = [] if len(shown) == 1 and shown.upper() in letters else _with_text(shown, options)
        if owners:
            namings += [_Naming(_Name(option, 0, len(line)), "stated") for option in owners]
        else:
            names = list(_letters(line, len(options)))
            namings += _namings(line, names, first=position == 0, owners=_owners(line, names, texts))
    return _decision(namings, len(options))


def parse_word(answer: str, forms: Sequence[Sequence[str]]) -> Parsed:
    """Read the answer to a question whose options are words, such as "Sì" and "No".

    "Si" without its accent is also a pronoun: it counts as yes alone, before punctuation, or in "Risposta: si".

    Args:
        answer: The generated text.
        forms: For each option its forms, as lower-case words ("negativo", "negativa").

    Returns:
        The choice.

    Raises:
        ValueError: There is no option, or two share a form.
    """
    reject_str(forms=forms)
    owners = {form: option for option, own in enumerate(forms) for form in own}
    if not owners or len(owners) != sum(map(len, forms)):
        raise ValueError("there must be options, and no form of two of them")
    read = _readable(answer)
    if isinstance(read, Parsed):
        return read
    # An accent written as an apostrophe, or leaning the other way.
    held = [re.sub(r"(?<!\w)s(?:í|i')(?!\w)", "sì", line, flags=re.I) for line in read[1]]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, owners))})(?!\w)", re.I)
    namings: list[_Naming] = []
    for position, line in enumerate(held):
        names = []
        for found in pattern.finditer(line):
            # Case is ignored more widely than it is folded: a dotless "ı" matches "i".
            option, is_si = owners.get(found[0].casefold()), found[0].casefold() == "si"
            if option is not None and not (is_si and _NEXT_WORD.match(line, found.end())):
                names.append(_Name(option, *found.span(), shy=is_si))
        namings += _namings(line, names, first=position == 0, heads=True)
    return _decision(namings, 0)


def _readable(answer: str) -> tuple[str, list[str]] | Parsed:
    """An answer without its reasoning, as a text and as lines; what to say of one that holds nothing to read."""
    text = without_reasoning(answer)
    if text is None:
        return Parsed(None, "unclosed_reasoning")
    held = words.lines(text)
    return (text, held) if any(map(words.exact, held)) else Parsed(None, "empty")


def _decision(namings: Sequence[_Naming], options: int) -> Parsed:
    """Weigh all namings; `options` is how many a list of all of them holds, 0 where there can be none."""
    by_kind: dict[str, set[int]] = {}
    for naming in namings:
        by_kind.setdefault(naming.kind, set()).add(naming.name.option)
    listed = by_kind.get("listed", set())
    is_list = options > 1 and len(listed) == options
    rejected = by_kind.get("rejected", set())
    tiers: tuple[tuple[set[int], Reason], ...] = (
        (by_kind.get("stated", set()), "stated"),
        (set() if is_list else listed, "stated"),
        (by_kind.get("mentioned", set()) - rejected, "mentioned"),
    )
    for found, reason in tiers:
        if len(found) > 1:
            return Parsed(None, "ambiguous")
        if found:
            return Parsed(found.pop(), reason)
    if "joined" in by_kind:
        return Parsed(None, "ambiguous")
    return Parsed(None, "rejected" if rejected else "echo" if is_list else "no_choice")


# --- Names in a line -------------------------------------------------------------------------------------------------


def _letters(line: str, options: int) -> Iterator[_Name]:
    """The letters in a line that can name an option."""
    shouted = not any(character.islower() for character in line)
    for found in _LETTER.finditer(line):
        letter, start, end = found[0], *found.span()
        option = ascii_uppercase.index(letter.upper())
        if option < options and _stands_alone(line, start, end) and not _is_word(line, found, shouted):
            yield _Name(option, start, end, shy=letter.islower())


def _stands_alone(line: str, start: int, end: int) -> bool:
    """Whether a letter is no part of a compound, an abbreviation, an elision or a unit: "C-14", "J.B.", "C'è", "A+"."""
    before, after = line[max(0, start - 2) : start], line[end : end + 2]
    if before[-1:] in ("'", "-", ".", "&") and before[:-1].isalnum():
        return False
    if after[:1] in ("-", ".", "&") and after[1:].isalnum():
        return False
    if after[:1] == "'":
        # "E'" is "È", "D'" an elision; in quotation marks it is a letter.
        return before[-1:] == "'" and not after[1:].isalnum()
    return after[:1] not in ("+", "°", "%", "#")


def _is_word(line: str, found: re.Match[str], shouted: bool) -> bool:
    """Whether a letter can be a word of the sentence: "A mio parere", "I think", "e poi"."""
    following = _NEXT_WORD.match(line, found.end())
    if found[0].lower() not in _WORDS or following is None or following[1].lower() in _AFTER_A_LETTER:
        return False
    # A capital in the middle of a sentence is no preposition: "la risposta è A in ogni caso".
    before = line[: found.start()].rstrip()
    return found[0].islower() or shouted or not before[-1:].isalnum()


def _with_text(text: str, options: Sequence[str]) -> list[int]:
    """The options whose text this is: "Rr" and "RR" are two, unless only one of them can be meant."""
    same = [position for position, option in enumerate(options) if words.exact(option) == text]
    folded = [position for position, option in enumerate(options) if words.flat(option) == words.flat(text)]
    return (same or folded) if text else []


def _owners(line: str, names: Sequence[_Name], texts: Sequence[str]) -> list[tuple[int | None, bool]]:
    """For each name the option whose text follows it ("B) era piccolo"), and whether that ends the line."""
    found: list[tuple[int | None, bool]] = []
    for name in names:
        separator = _SEPARATOR.match(line, name.end)
        rest = words.flat(line[separator.end() :]) if separator else ""
        fitting = [
            option
            for option, text in enumerate(texts)
            if text and rest.startswith(text) and not rest[len(text) : len(text) + 1].isalnum()
        ]
        # "Un cane nero" is not the option "un cane".
        longest = max((len(texts[option]) for option in fitting), default=0)
        best = [option for option in fitting if len(texts[option]) == longest]
        owner = name.option if name.option in best else best[0] if best else None
        found.append((owner, owner is not None and texts[owner] == rest))
    return found


# --- What a name does ------------------------------------------------------------------------------------------------


def _namings(
    line: str,
    names: Sequence[_Name],
    *,
    first: bool,
    heads: bool = False,
    owners: Sequence[tuple[int | None, bool]] | None = None,
) -> list[_Naming]:
    """What each name does in its line.

    Args:
        line: The line.
        names: Those in it, from left to right.
        first: Whether it is the answer's first line.
        heads: Whether a name that opens the first line counts, whatever follows it: words, but not letters.
        owners: As `_owners` returns them; None for none.
    """
    owners = owners or [(None, False)] * len(names)
    several = sum(owner is not None for owner, _ in owners) > 1
    found = [
        _naming(
            line,
            name,
            owner,
            first=first,
            heads=heads,
            is_list=several or (is_whole and not line[: name.start].strip(_OPENING)),
        )
        for name, (owner, is_whole) in zip(names, owners, strict=True)
    ]
    for step in (1, -1):
        for position in range(len(found))[::step]:
            other = position - step
            if 0 <= other < len(found) and found[position].kind == "nothing":
                found[position] = _beside(line, found[position], found[other])
    # The letter of one option with the text of another is both.
    contradictions = [
        _Naming(replace(name, option=owner), "stated")
        for name, (owner, _) in zip(names, owners, strict=True)
        if owner not in (None, name.option)
    ]
    return [*found, *contradictions]


def _beside(line: str, naming: _Naming, other: _Naming) -> _Naming:
    """A name that does nothing by itself, beside another one: whoever says "A o B" has chosen neither."""
    left, right = sorted((naming.name, other.name), key=lambda name: name.start)
    if left.option == right.option or not words.is_joined(line[left.end : right.start]):
        return naming
    return replace(naming, kind=other.kind if other.kind in ("stated", "mentioned") else "joined")


def _naming(line: str, name: _Name, owner: int | None, *, first: bool, heads: bool, is_list: bool) -> _Naming:
    left, right = line[: name.start], line[name.end :]
    declared = words.is_declared(left)
    if owner == name.option and is_list and not declared:
        # Whatever "not" stands before it may belong to another option's text.
        return _Naming(name, "listed")
    if words.is_denied(left):
        return _Naming(name, "rejected")
    if declared and owner is not None:
        return _Naming(name, "stated")
    if owner is not None:
        # The letter of one option with the text of another is a choice of both, see `_namings`.
        return _Naming(name, "stated" if owner != name.option else "listed" if first else "nothing")
    return _Naming(name, _kind(left, right, declared=declared, first=first, heads=heads, shy=name.shy))


def _kind(
    left: str, right: str, *, declared: bool, first: bool, heads: bool, shy: bool
) -> Literal["stated", "mentioned", "rejected", "nothing"]:
    """What a name does that stands between these words, without the text of an option after it."""
    if not heads and words.is_called_wrong(right):
        return "rejected"
    if words.is_asked(right):
        return "nothing"
    opens = first and not shy and words.is_head(left, right, whole=False)
    opens = opens or (first and heads and not left.strip(_OPENING))
    if declared or opens or words.is_called_right(right) or words.is_head(left, right, whole=True):
        return "stated"
    return "mentioned" if words.cued(left) and not shy else "nothing"
