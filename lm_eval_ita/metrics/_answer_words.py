"""The Italian (and a little English) that surrounds a choice in an answer, and text made ready to look for it.

`answer_choice` says what the patterns are for. All are applied to one line at a time.
"""

import re

from lm_eval_ita.metrics.text import fold, visible

__all__ = [
    "after_heading",
    "cued",
    "exact",
    "flat",
    "is_asked",
    "is_called_right",
    "is_called_wrong",
    "is_declared",
    "is_denied",
    "is_head",
    "is_joined",
    "lines",
]

_SIGNS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "´": "'", "–": "-", "—": "-", "：": ":", "（": "(", "）": ")"})
_MARKUP = re.compile(r"\\(?:boxed|text|textbf|mathbf|mathrm)(?=\{)|[*_`~$\"“”„«»{}]")
_LINE_MARK = re.compile(r"^[\s>#•-]+(?=\S)")
_EDGES = " .,;:!'()[]"

_NOUN = r"(?:risposta|opzione|alternativa|scelta|lettera|soluzione|answer|option|choice|letter)"
# "che completa meglio la frase", "che continua meglio il testo": the words of the questions themselves.
_BETTER = r"che\s+(?:completa|continua)\s+meglio(?:\s+(?:la\s+frase|il\s+testo))?"
_RIGHT = (
    r"(?:corrett[ao]|giust[ao]|esatt[ao]|migliore|finale|definitiva|più\s+\w+|correct|right|best|final|"
    rf"alla\s+domanda|{_BETTER})"
)
_IS = r"(?:è|e'|sarebbe|is|:|=)(?:\s*:)?"
_FILL = (
    r"(?:\s*(?:,|quindi|dunque|pertanto|perciò|sicuramente|certamente|therefore))*"
    rf"\s*(?:(?:la|the)\s+|l\s*')?(?:{_NOUN}\s*)?(?:{_RIGHT}\s*)?(?::\s*)?(?:la\s+)?"
)
_CHOOSE = r"(?:scelgo|seleziono|indico|opto\s+per|rispondo(?:\s+(?:con|di))?|i\s+choose)"
# "La risposta corretta è la B", "Risposta: B", "scelgo l'opzione B": what stands before the choice.
_DECLARED_LEFT = re.compile(rf"(?:\b{_NOUN}(?:\s+{_RIGHT})*\s*{_IS}{_FILL}|\b{_CHOOSE}\s+{_FILL})[\s(\[']*$", re.I)
# "B è la risposta corretta": what stands after it.
_DECLARED_RIGHT = re.compile(rf"\s*[)\].]?\s*(?:è|e'|is)\s+(?:(?:la|the)\s+|l')?(?:{_NOUN}\s+)?{_RIGHT}\b", re.I)
# "Risposta:", "La risposta corretta è": what may stand before the text of an option.
_HEADING = re.compile(rf"(?:(?:la|il)\s+)?(?:mia\s+)?{_NOUN}(?:\s+{_RIGHT})*\s*{_IS}\s*", re.I)

_SURELY = r"(?:assolutamente|certamente|decisamente|ovviamente|sicuramente|certo\s+che)"
_TO_ME = r"(?:secondo\s+me|a\s+mio\s+(?:avviso|parere))\s*,?"
_CUE = re.compile(
    rf"(?:\b(?:la|{_NOUN}|è|e'|sia|sarebbe|is|sentimento|tono|direi|credo|penso|di|{_SURELY}|{_TO_ME})|:)[\s(\[']*$",
    re.I,
)
_OPENING = re.compile(r"[\s(\[']*$")
_CLOSING = re.compile(r"[\s)\].,;:!'…-]*$")
_HEAD = re.compile(
    r"\s*[)\]]|[.:](?=\s|$)|\s*[,;:-]\s|\s+(?:è|e'|perché|poiché|siccome|in quanto|is|because)(?!\w)", re.I
)

_CLAUSE = re.compile(r"[,;.!?]|\b(?:ma|mentre|bensì|but|while)\b", re.I)
_NOT = re.compile(r"\b(?:non|né|nè|ne'|tranne|eccetto|esclud\w+|scart\w+|elimin\w+|not|neither|nor)(?!\w)", re.I)
_WRONG_AFTER = re.compile(
    rf"\s*(?:non\s+(?:è|e'|può|sarebbe)|(?:is\s+)?not\b|(?:(?:è|e'|sarebbe|is)\s+)?(?:(?:la|una|the)\s+|l')?"
    rf"(?:{_NOUN}\s+)?(?:sbagliat|errat|scorrett|falsa|falso|incorre|wrong))",
    re.I,
)
_ASKS = re.compile(r"[^.!?]*\?")
_JOINED = re.compile(
    r"[\s)\]']*(?:(?:,|/|&|(?<!\w)(?:o|oppure|e|ed|ma|anche|che|or|and|but)(?!\w))\s*)+"
    rf"(?:(?:la|l'|{_NOUN})\s*)*[\s(\[']*$",
    re.I,
)


def lines(text: str) -> list[str]:
    """The lines that hold something, without markup, quotation marks and bullets, with one kind of apostrophe."""
    plain = _MARKUP.sub("", visible(text).translate(_SIGNS))
    # Single spaces: the patterns have many places where there may be white space, and would try them all.
    return [kept for line in plain.splitlines() if (kept := " ".join(_LINE_MARK.sub("", line).split()))]


def exact(text: str) -> str:
    """A text as exact answers are compared: on one line, without markup, quotation marks, final stop."""
    return " ".join(lines(text)).strip(_EDGES)


def flat(text: str) -> str:
    """The same, case-folded."""
    return fold(exact(text))


def after_heading(line: str) -> str:
    """The line without "Risposta:" or "La risposta corretta è" at its start."""
    found = _HEADING.match(line)
    return line[found.end() :] if found else line


def is_declared(left: str) -> bool:
    """Whether the words before say that the choice is the answer: "la risposta è B", "scelgo la B"."""
    return bool(_DECLARED_LEFT.search(left))


def is_called_right(right: str) -> bool:
    """Whether the words after say so: "B è giusta", "B è la risposta corretta"."""
    return bool(_DECLARED_RIGHT.match(right))


def is_head(left: str, right: str, *, whole: bool) -> bool:
    """Whether a choice is all that its line holds, or (not `whole`) a line's first word and set off from the rest."""
    return bool(_OPENING.match(left)) and bool((_CLOSING if whole else _HEAD).match(right))


def cued(left: str) -> bool:
    """Whether the word before says that a choice follows: "la B", "opzione B", "è B", "direi di no"."""
    return bool(_CUE.search(left))


def is_denied(left: str) -> bool:
    """Whether a negation stands before the choice in its clause: "non è la B"."""
    return bool(_NOT.search(_CLAUSE.split(left)[-1]))


def is_called_wrong(right: str) -> bool:
    """Whether the choice is called wrong: "la B è sbagliata", "la B non è corretta"."""
    return bool(_WRONG_AFTER.match(right))


def is_asked(right: str) -> bool:
    """Whether the sentence of the choice ends in a question mark."""
    return bool(_ASKS.match(right))


def is_joined(between: str) -> bool:
    """Whether two choices are named in one breath: "A o B", "la A e la C", "sì, ma anche no"."""
    return bool(_JOINED.match(between))
