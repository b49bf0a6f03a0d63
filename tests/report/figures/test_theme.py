import subprocess
import sys
from itertools import combinations, pairwise

import pytest

from lm_eval_ita.report.figures.bias_heatmap import STEPS, colour_of
from lm_eval_ita.report.figures.theme import COLOURS, INK, MARKERS, OUTCOMES, contrast, ink_on, model_look
from tests.report.figures.colour_vision import SEEN, distance, lab

# Stone, Szafir and Setlur, "An Engineering Model for Color Difference as a Function of Size" (2014): half of the people
# see a difference of 0.5 (A + B / s) in marks of s degrees. b* needs most: A = 10.7, B = 5.74. A third of a degree is the
# smallest size they measured; a marker of 5 points at 50 cm is a fifth of one.
SEEN_AT_A_THIRD = 0.5 * (10.7 + 5.74 * 3)
SEEN_AT_A_FIFTH = 0.5 * (10.7 + 5.74 * 5)


def test_lab_of_known_colours() -> None:
    """From tables of sRGB primaries under D65."""
    assert lab("#FF0000") == pytest.approx([53.24, 80.09, 67.20], abs=0.01)
    assert lab("#0000FF") == pytest.approx([32.30, 79.19, -107.86], abs=0.01)
    assert lab("#FFFFFF") == pytest.approx([100, 0, 0], abs=0.01)


@pytest.mark.parametrize("vision", ["protanopia", "deuteranopia"])
def test_the_simulation_takes_colours_away(vision: str) -> None:
    """Red and green of one lightness fall together; greys stay."""
    assert distance("#D03030", "#6E7A1E", "normal") > 2 * distance("#D03030", "#6E7A1E", vision)
    assert distance("#777777", "#CCCCCC", vision) == pytest.approx(distance("#777777", "#CCCCCC", "normal"), abs=0.5)


@pytest.mark.parametrize("vision", SEEN)
def test_models_colours_are_told_apart(vision: str) -> None:
    # Neighbours twice over; the rest once, and their shapes differ.
    for one, two in pairwise((*COLOURS, COLOURS[0])):
        assert distance(one, two, vision) > 2 * SEEN_AT_A_FIFTH, (one, two)
    for one, two in combinations(COLOURS, 2):
        assert distance(one, two, vision) > SEEN_AT_A_THIRD, (one, two)


@pytest.mark.parametrize("vision", SEEN)
def test_outcomes_are_told_apart(vision: str) -> None:
    for (one, _), (two, _) in combinations(OUTCOMES, 2):
        assert distance(one, two, vision) > SEEN_AT_A_FIFTH, (one, two)


@pytest.mark.parametrize("vision", SEEN)
def test_stereotype_and_reverse_are_told_apart(vision: str) -> None:
    for score in (0.25, 0.5, 0.75, 1.0):
        assert distance(colour_of(score), colour_of(-score), vision) > SEEN_AT_A_FIFTH


def test_twenty_models_look_different() -> None:
    looks = [model_look(i) for i in range(20)]
    assert len(set(looks)) == 20
    assert {look.colour for look in looks} == set(COLOURS)
    assert {look.marker for look in looks} == set(MARKERS)


def test_contrast() -> None:
    """WCAG's own examples: black on white is 21, a colour on itself 1."""
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_numbers_in_cells_and_bars_can_be_read() -> None:
    fills = [colour_of(-1 + 2 * i / (STEPS - 1)) for i in range(STEPS)] + [colour for colour, _ in OUTCOMES]
    assert min(contrast(ink_on(fill), fill) for fill in fills) >= 4.5
    assert contrast(INK, "#FFFFFF") > 7


PROGRAM = """
import importlib.abc, sys

class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

sys.meta_path.insert(0, Hide())
from lm_eval_ita.errors import UserError
from lm_eval_ita.report.figures import Ranked, ranking
try:
    ranking([Ranked("a", 1.0)], "t", "x")
except UserError as error:
    print(error)
"""


def test_without_matplotlib_the_mend_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "figures need matplotlib; pip install 'lm-eval-ita[report]'\n"


def test_pyplot_stays_out_and_settings_stay_as_they_were() -> None:
    program = (
        "import matplotlib, sys; matplotlib.rcParams['font.size'] = 33.0\n"
        "from lm_eval_ita.report.figures import Ranked, as_svg, ranking\n"
        "made = as_svg(ranking([Ranked('a', 1.0)], 't', 'x'), alt='', prefix='p')\n"
        "print('matplotlib.pyplot' in sys.modules, matplotlib.rcParams['font.size'], 'font-size: 33' in made)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "33.0", "False"]
    assert done.stderr == ""
