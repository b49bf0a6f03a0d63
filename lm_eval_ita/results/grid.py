"""A table of texts, and its renderings: plain text, Markdown, LaTeX. Names and answers in it may hold anything."""

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Grid", "displayed", "latex", "latex_text", "markdown", "markdown_text", "plain"]

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
    "†": r"\textdagger{}",
    "–": "--",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "−": r"$-$",
    "’": "'",
}
_LATEX_LETTERS = "ßæøœÆØŒåÅłŁı"
# Grave, acute, circumflex, tilde, macron, breve, dot, diaeresis, ring, double acute, caron, cedilla.
_LATEX_ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
_FIGURES = re.compile(r"[()+\-*\d. ]*\d[()+\-*\d. ]*")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: Above it.
        header: Column names.
        rows: Each as long as the header.
        notes: Below it, one a line.
        left: How many columns, from the first, are texts; the rest are figures.
        rules: Rows before which a line is drawn.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    left: int = 1
    rules: tuple[int, ...] = ()


def displayed(text: str, limit: int = 48) -> str:
    """A text on one line, without control characters, its middle left out where it is longer than `limit`."""
    # First a cut, so that a text of millions of characters costs nothing.
    head, tail = text[: 4 * limit], text[-4 * limit :] if len(text) > 8 * limit else text[4 * limit :]
    # A mark that changes the direction of writing leaves no gap; line ends and control characters do.
    visible = "".join(
        character if character.isprintable() else "" if unicodedata.category(character) == "Cf" else " "
        for character in head + tail
    )
    line = " ".join(visible.split())
    if len(line) <= limit:
        return line
    front = (limit - 1) * 2 // 3
    return f"{line[:front]}…{line[front + 1 - limit :]}"


def plain(grid: Grid) -> str:
    """The table for a terminal."""
    from rich.cells import cell_len

    lines = [grid.header, *grid.rows]
    widths = [max(cell_len(line[i]) for line in lines) for i in range(len(grid.header))]

    def padded(line: Sequence[str]) -> str:
        cells = []
        for i, (text, width) in enumerate(zip(line, widths, strict=True)):
            space = " " * (width - cell_len(text))
            cells.append(text + space if i < grid.left else space + text)
        return "  ".join(cells).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    body: list[str] = [grid.title, padded(grid.header), rule]
    for position, row in enumerate(grid.rows):
        body += [rule] if position in grid.rules else []
        body.append(padded(row))
    notes = [line for note in grid.notes for line in textwrap.wrap(note, 118, subsequent_indent="    ")]
    return "\n".join([*body, *notes])


def markdown(grid: Grid) -> str:
    """The table in Markdown (GitHub's tables)."""
    marks = [":--" if i < grid.left else "--:" for i in range(len(grid.header))]
    lines = [grid.header, tuple(marks), *grid.rows]
    table = [
        f"| {' | '.join(line if line in marks else markdown_text(line) for line in cells)} |"
        if position == 1
        else f"| {' | '.join(map(markdown_text, cells))} |"
        for position, cells in enumerate(lines)
    ]
    notes = [f"- {markdown_text(note)}" for note in grid.notes]
    return "\n".join([f"**{markdown_text(grid.title)}**", "", *table, *(["", *notes] if notes else [])])


def markdown_text(text: str) -> str:
    """A text that shows as itself in Markdown: no markup, no HTML, no link."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A minus or plus before a digit is a number, not a list.
    return re.sub(r"\\([+-])(?=[\d.])", r"\1", _MARKDOWN.sub(r"\\\1", safe)).replace("://", ":&#47;&#47;")


def latex(grid: Grid) -> str:
    """The table in LaTeX; needs the package booktabs."""
    columns = "l" * grid.left + "r" * (len(grid.header) - grid.left)
    body = []
    for position, row in enumerate(grid.rows):
        body += [r"\midrule"] if position in grid.rules else []
        body.append(_latex_line(row))
    caption = latex_text(grid.title)
    notes = [rf"\par\footnotesize {latex_text(note)}" for note in grid.notes]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _latex_line(grid.header),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
    )


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(cell: str) -> str:
    if _FIGURES.fullmatch(cell):
        return cell.replace("-", "$-$").replace("+", "$+$")
    # An opening bracket at the start of a line would be taken for the option of the line break before it.
    return f"{{{latex_text(cell)}}}" if cell.startswith(("[", "*")) else latex_text(cell)


def _is_accented(character: str) -> bool:
    """A Latin letter with one accent, which every LaTeX font can set."""
    parts = unicodedata.normalize("NFD", character)
    return len(parts) == 2 and parts[0].isascii() and parts[1] in _LATEX_ACCENTS


def latex_text(text: str) -> str:
    """A text that shows as itself in LaTeX with UTF-8 input; a character that its fonts lack shows as its number."""
    shown = []
    for character in unicodedata.normalize("NFC", text):
        if character in _LATEX:
            shown.append(_LATEX[character])
        elif character.isascii() or character in _LATEX_LETTERS or _is_accented(character):
            shown.append(character)
        else:
            shown.append(rf"\texttt{{U+{ord(character):04X}}}")
    return "".join(shown)
