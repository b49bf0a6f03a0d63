"""A grid as a LaTeX table that fits the page, whatever its texts hold."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lm_eval_ita.results.grid import Grid
from lm_eval_ita.results.latex_text import breakable_latex, latex_text, text_width

__all__ = ["LANDSCAPE", "PORTRAIT", "Page", "latex"]


class Page(NamedTuple):
    """Width and height of the text on a page, in points."""

    width: float
    height: float


# A4 with 25 mm of margin, and across with 15 mm.
PORTRAIT = Page(455.0, 702.0)
LANDSCAPE = Page(759.0, 512.0)

_FIGURES = re.compile(r"[()+\-*\d. ]*\d[()+\-*\d. ]*")
_SIGN = re.compile(r"(?<![\d.])-(?=\d)")


class _Size(NamedTuple):
    """A size of type: its command, width relative to ten points (small type is wider for its height), half the space
    between columns and the distance of lines, in points.
    """

    command: str
    scale: float
    space: float
    line: float


_SIZES = (
    _Size(r"\normalsize", 1.0, 6.0, 12.0),
    _Size(r"\small", 0.93, 5.0, 11.0),
    _Size(r"\footnotesize", 0.85, 4.0, 9.5),
    _Size(r"\scriptsize", 0.8, 2.5, 8.0),
)
_NOTE = _SIZES[2]
# In points of the largest type: what a head may be wider than its figures, and how narrow a text column may get.
_HEAD, _NARROW = 75.0, 100.0
# In points: a rule with its space; the caption with its own.
_RULE, _CAPTION = 6.0, 30.0
# Rows between two rules stay on one page up to this many.
_BLOCK = 12


@dataclass(frozen=True)
class _Layout:
    """How a grid is set: the size of type, and each text column's width in points.

    A width of None leaves the column as wide as its longest text. `heads` are the widths into which heads are broken.
    """

    size: _Size
    texts: tuple[float | None, ...]
    heads: tuple[float | None, ...]
    fits: bool


def latex(grid: Grid, page: Page = PORTRAIT) -> str:
    """The table in LaTeX; needs the packages booktabs and longtable, and UTF-8 input.

    Args:
        grid: The table.
        page: What it is to fit on. The type gets smaller and long texts are broken until it does.

    Returns:
        A floating table, or a longtable where it is longer than a page. A comment says where it is too wide.
    """
    layout = _layout(grid, page.width)
    lines = _floating(grid, layout) if _height(grid, layout, page.width) <= page.height else _long(grid, layout)
    return "\n".join(lines if layout.fits else [f"% wider than {page.width:.0f}pt in the smallest type", *lines])


def _height(grid: Grid, layout: _Layout, width: float) -> float:
    """A bound of the table's height in points."""
    head = max(_lines(text, layout.size.scale, space) for text, space in zip(grid.header, layout.heads, strict=True))
    rows = sum(
        max(_lines(text, layout.size.scale, space) for text, space in zip(row, layout.texts, strict=False))
        for row in grid.rows
    )
    notes = sum(_lines(note, _NOTE.scale, width) for note in grid.notes)
    rules = _RULE * (4 + len(grid.rules))
    return _CAPTION + (head + rows) * layout.size.line + rules + notes * _NOTE.line


def _lines(text: str, scale: float, width: float | None) -> int:
    """How many lines a text takes in a column, places where words end included."""
    return 1 if width is None else math.ceil(1.15 * scale * text_width(text) / width) or 1


def _floating(grid: Grid, layout: _Layout) -> list[str]:
    return [
        r"\begin{table}[htbp]",
        r"\centering",
        _setting(layout),
        rf"{_caption(grid)}\smallskip",
        rf"\begin{{tabular}}{{{_columns(grid, layout)}}}",
        r"\toprule",
        _head(grid, layout),
        r"\midrule",
        *_body(grid, layout, r"\midrule", r"\\"),
        r"\bottomrule",
        r"\end{tabular}",
        *_notes(grid),
        r"\end{table}",
    ]


def _long(grid: Grid, layout: _Layout) -> list[str]:
    head = _head(grid, layout)
    return [
        r"\begingroup",
        _setting(layout),
        r"\setlength{\LTcapwidth}{\linewidth}",
        rf"\begin{{longtable}}{{{_columns(grid, layout)}}}",
        rf"{_caption(grid)}\\",
        r"\toprule",
        head,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        # A rule between two blocks would stay at the foot of a page, doubling the last one.
        *_body(grid, layout, r"\addlinespace", r"\\*"),
        r"\end{longtable}",
        *_notes(grid),
        r"\endgroup",
    ]


def _caption(grid: Grid) -> str:
    label = rf"\label{{tab:{grid.name}}}" if grid.name else ""
    return rf"\caption{{{breakable_latex(grid.title)}}}{label}"


def _setting(layout: _Layout) -> str:
    # A hyphen that is not in a model's name would change it.
    return rf"{layout.size.command}\setlength{{\tabcolsep}}{{{layout.size.space:g}pt}}\hyphenpenalty=10000"


def _columns(grid: Grid, layout: _Layout) -> str:
    texts = ("l" if width is None else f"p{{{width:.1f}pt}}" for width in layout.texts)
    return "".join(texts) + "r" * (len(grid.header) - grid.left)


def _head(grid: Grid, layout: _Layout) -> str:
    cells = []
    for position, (text, width) in enumerate(zip(grid.header, layout.heads, strict=True)):
        side = "right" if position < grid.left else "left"
        box = rf"\parbox[b]{{{width or 0:.1f}pt}}{{\ragged{side}\strut {breakable_latex(text)}\strut}}"
        cells.append(_protected(breakable_latex(text)) if width is None else box)
    return " & ".join(cells) + r" \\"


def _body(grid: Grid, layout: _Layout, between: str, within: str) -> list[str]:
    """The rows, with `between` before each block of them, and `within` at the ends of rows that stay on one page."""
    rules = sorted({rule for rule in grid.rules if 0 < rule < len(grid.rows)})
    lines = []
    for first, after in zip((0, *rules), (*rules, len(grid.rows)), strict=True):
        lines += [between] if first else []
        together = after - first <= _BLOCK
        previous: Sequence[str] = ()
        for position, row in enumerate(grid.rows[first:after], start=first + 1):
            end = within if together and position < after else r"\\"
            lines.append(f"{_row(_without_repeated(row, previous, grid.left), layout)} {end}")
            previous = row
    return lines


def _without_repeated(row: Sequence[str], previous: Sequence[str], left: int) -> list[str]:
    """A row whose first texts are left out as long as they are those of the row above."""
    same = 0
    while same < min(left - 1, len(previous)) and row[same] == previous[same]:
        same += 1
    return [*[""] * same, *row[same:]]


def _row(row: Sequence[str], layout: _Layout) -> str:
    widths = (*layout.texts, *[None] * (len(row) - len(layout.texts)))
    cells = (
        rf"\raggedright {breakable_latex(text)}" if text and width is not None else _cell(text)
        for text, width in zip(row, widths, strict=True)
    )
    return " & ".join(cells)


def _notes(grid: Grid) -> list[str]:
    if not grid.notes:
        return []
    notes = [rf"{breakable_latex(note)}\par" for note in grid.notes]
    # No page ends within a note.
    return [r"\par\smallskip", r"{\raggedright\footnotesize\interlinepenalty=10000", *notes, "}"]


def _cell(cell: str) -> str:
    if _FIGURES.fullmatch(cell):
        return _SIGN.sub("$-$", cell).replace("+", "$+$")
    if cell[:1] in "(+-" and _FIGURES.match(cell):
        return _SIGN.sub("$-$", latex_text(cell)).replace("+", "$+$")
    return _protected(latex_text(cell))


def _protected(text: str) -> str:
    # An opening bracket or a star at the start of a line would be taken for an argument of the line break before it.
    return f"{{{text}}}" if text.lstrip().startswith(("[", "*")) else text


def _layout(grid: Grid, width: float) -> _Layout:
    """The largest type in which the table fits, whole texts first."""
    columns = list(zip(grid.header, *grid.rows, strict=True))
    texts = [max(map(text_width, column)) for column in columns[: grid.left]]
    bodies = [max(map(text_width, column[1:]), default=0.0) for column in columns[grid.left :]]
    figures = [
        max(body, min(text_width(head), _HEAD)) for body, head in zip(bodies, grid.header[grid.left :], strict=True)
    ]
    for breaking in (False, True):
        for size in _SIZES[1:] if breaking else _SIZES[:-1]:
            room = (width - 2 * size.space * len(columns)) / size.scale - sum(figures)
            shared = _shared(texts, room) if breaking else texts
            if sum(shared) <= room:
                return _laid_out(grid, size, texts, shared, figures)
    narrow = [min(text, _NARROW) for text in texts]
    return _laid_out(grid, _SIZES[-1], texts, narrow, figures, fits=False)


def _laid_out(
    grid: Grid,
    size: _Size,
    texts: Sequence[float],
    shared: Sequence[float],
    figures: Sequence[float],
    fits: bool = True,
) -> _Layout:
    widths = [size.scale * given if given < whole else None for given, whole in zip(shared, texts, strict=True)]
    heads = [
        size.scale * width if text_width(head) > width else None
        for head, width in zip(grid.header, [*shared, *figures], strict=True)
    ]
    return _Layout(size, tuple(widths), tuple(heads), fits)


def _shared(texts: Sequence[float], room: float) -> list[float]:
    """The widths of the text columns when the widest are cut to the same width until all fit; none below `_NARROW`."""
    least, most = _NARROW, max(texts, default=0.0)
    for _ in range(30):
        cut = (least + most) / 2
        least, most = (cut, most) if sum(min(text, cut) for text in texts) <= room else (least, cut)
    return [min(text, max(least, _NARROW)) for text in texts]
