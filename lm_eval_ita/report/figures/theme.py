"""How all figures look: colours, marker shapes, sizes, and matplotlib's settings.

Nothing is told by colour alone: models differ in colour and shape, shares in colour and hatching, cells hold their
number. Models' colours are Okabe and Ito's ("Color Universal Design", 2008) without yellow, which is too light for thin
lines on white. tests/report/figures/test_theme.py measures them as red- and green-blind people see them.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from lm_eval_ita.errors import UserError

__all__ = [
    "ACCENT",
    "BAND",
    "COLOURS",
    "GREY",
    "INK",
    "MARKERS",
    "MUTED",
    "OUTCOMES",
    "RULE",
    "SMALL",
    "TEXT",
    "TITLE",
    "WIDTH",
    "Look",
    "contrast",
    "ink_on",
    "model_look",
    "quiet",
    "styled",
]

# In an order that sets neighbours far apart for red- and green-blind people too.
COLOURS = ("#0072B2", "#D55E00", "#CC79A7", "#E69F00", "#009E73", "#56B4E9", "#333333")
# As many as have no divisor in common with the colours, so that 56 models differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
ACCENT = COLOURS[0]
INK, MUTED, GREY, RULE, BAND = "#222222", "#5F5F5F", "#9A9A9A", "#E2E2E2", "#F4F4F4"

# Attribute 1, attribute 2, neutral, error: colour, hatching (in white). In grey: middling, hatched, light, dark.
OUTCOMES = (("#E69F00", ""), ("#56B4E9", "////"), ("#E4E4E4", ""), ("#595959", ""))

TITLE, TEXT, SMALL = 10.0, 8.0, 7.0  # points
WIDTH = 7.2  # inches: two columns of a paper

_SETTINGS: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": TEXT,
    "text.color": INK,
    "text.hinting": "no_hinting",  # as wide as measured, at every resolution
    "text.parse_math": False,  # a name may hold dollar signs
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": GREY,
    "xtick.labelcolor": MUTED,
    "xtick.labelsize": SMALL,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.labelcolor": INK,
    "ytick.labelsize": TEXT,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # texts stay texts
    "svg.hashsalt": "lm-eval-ita",  # the same ids every time
}


class Look(NamedTuple):
    """How one model is drawn."""

    colour: str
    marker: str


@contextmanager
def styled() -> Iterator[None]:
    """matplotlib with our settings, whatever the user's are, and without its remarks on characters its font lacks.

    In a page the browser has those characters; in a PNG they show as a box.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        from matplotlib import style
    except ModuleNotFoundError as error:
        raise UserError(f"figures need {error.name}; pip install 'lm-eval-ita[report]'") from None
    with quiet(), style.context(["default", _SETTINGS]):
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Hide matplotlib's remarks on characters that its font lacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        yield


def model_look(position: int) -> Look:
    """Colour and shape of the model at this position, counted from 0."""
    return Look(COLOURS[position % len(COLOURS)], MARKERS[position % len(MARKERS)])


def contrast(one: str, two: str) -> float:
    """The contrast of two colours ("#RRGGBB"), 1 to 21, as WCAG 2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(background: str) -> str:
    """Black or white: what is read better on the background."""
    return max(("#000000", "#FFFFFF"), key=lambda ink: contrast(ink, background))


def _luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
