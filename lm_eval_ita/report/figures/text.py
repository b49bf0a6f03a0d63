"""Names in figures: literal, on one line, cut to the room there is, and told apart after the cut."""

import functools
from collections.abc import Sequence

from lm_eval_ita.report.figures.theme import quiet
from lm_eval_ita.results.grid import displayed

__all__ = ["fitted", "number", "signed", "text_width", "told_apart", "wrapped"]

_LONGEST = 240  # characters: more never fit


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text on one line, in inches; `size` in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    with quiet():
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def fitted(text: str, inches: float, size: float, *, bold: bool = False) -> str:
    """The text on one line, its middle left out where it is wider than `inches`."""
    limit = _LONGEST
    while (width := text_width(shown := displayed(text, limit), size, bold=bold)) > inches and limit > 2:
        limit = max(2, min(limit - 1, int(len(shown) * inches / width)))
    return shown


def told_apart(texts: Sequence[str], inches: float, size: float, *, bold: bool = False) -> list[str]:
    """Every text fitted; those that a cut made equal are numbered."""
    cut = [fitted(text, inches, size, bold=bold) for text in texts]
    originals: dict[str, dict[str, int]] = {}
    for text, short in zip(texts, cut, strict=True):
        seen = originals.setdefault(short, {})
        seen.setdefault(text, len(seen) + 1)
    made = []
    for text, short in zip(texts, cut, strict=True):
        tail = f" ({originals[short][text]})" if len(originals[short]) > 1 else ""
        made.append(fitted(text, inches - text_width(tail, size, bold=bold), size, bold=bold) + tail if tail else short)
    return made


def wrapped(text: str, inches: float, size: float, *, lines: int = 2, bold: bool = False) -> list[str]:
    """The text on at most so many lines, broken at spaces; what does not fit is left out in the middle."""
    words = displayed(text, _LONGEST * lines).split(" ")
    made = [""]
    for word in words:
        longer = f"{made[-1]} {word}".strip()
        if made[-1] and len(made) < lines and text_width(longer, size, bold=bold) > inches:
            made.append(word)
        else:
            made[-1] = longer
    return [fitted(line, inches, size, bold=bold) for line in made]


def number(value: float | None, decimals: int = 1) -> str:
    """A figure with a true minus sign; a dash for what is missing."""
    # Rounded first: -0.001 is not "-0.00".
    return "–" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def signed(value: float | None, decimals: int = 2) -> str:
    """A figure with its sign."""
    return "–" if value is None else f"{round(value, decimals) + 0.0:+.{decimals}f}".replace("-", "−")
