"""A table of texts, for a terminal and in Markdown (LaTeX: latex.py). Names and answers in it may hold anything."""

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Grid", "displayed", "markdown", "markdown_text", "plain", "with_sample_note"]

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
        name: Short name for files and links, of lower-case letters, digits and underscores.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    left: int = 1
    rules: tuple[int, ...] = ()
    name: str = ""


def with_sample_note(made: Sequence[Grid], sample: bool) -> list[Grid]:
    """The tables, their titles saying so where the figures come from sample rows."""
    return [replace(grid, title=f"{grid.title} - SAMPLE DATA, NOT COMPARABLE") for grid in made] if sample else [*made]


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
    lines = [grid.header, *grid.rows]
    widths = [max(_cell_width(line[i]) for line in lines) for i in range(len(grid.header))]

    def padded(line: Sequence[str]) -> str:
        cells = []
        for i, (text, width) in enumerate(zip(line, widths, strict=True)):
            space = " " * (width - _cell_width(text))
            cells.append(text + space if i < grid.left else space + text)
        return "  ".join(cells).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    body: list[str] = [grid.title, padded(grid.header), rule]
    for position, row in enumerate(grid.rows):
        body += [rule] if position in grid.rules else []
        body.append(padded(row))
    notes = [line for note in grid.notes for line in textwrap.wrap(note, 118, subsequent_indent="    ")]
    return "\n".join([*body, *notes])


def _cell_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


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
