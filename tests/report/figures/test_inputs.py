import math

import pytest

from lm_eval_ita.report.figures import BiasCell, Entry, OneShot, Outcomes, TaskPanel
from lm_eval_ita.report.figures.inputs import known


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_missing(missing: float | None) -> None:
    assert known(missing) is None
    assert Outcomes("t", "m", missing, 0.5, 0.25, 0.25).shares() is None
    assert BiasCell(missing).score is missing


def test_zero_is_a_value() -> None:
    assert known(0.0) == 0.0
    assert Outcomes("t", "m", 0.0, 0.0, 0.0, 1.0).shares() == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("shares", [(0.5, 0.5, 0.5, 0.0), (0.2, 0.2, 0.2, 0.2), (-0.5, 0.5, 0.5, 0.5), (59, 36, 0, 5)])
def test_shares_that_cannot_be(shares: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        Outcomes("t", "m", *shares)


def test_rounded_shares_are_taken() -> None:
    assert Outcomes("t", "m", 0.59, 0.36, 0.0, 0.04).shares() == (0.59, 0.36, 0.0, 0.04)  # Table 2 of the ItaP-AT paper


@pytest.mark.parametrize("score", [1.01, -1.01, 62.0])
def test_a_bias_score_lies_between_minus_one_and_one(score: float) -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        BiasCell(score)
    with pytest.raises(ValueError, match="between -1 and 1"):
        OneShot("t", 0.0, score)


def test_stars() -> None:
    with pytest.raises(ValueError, match="stars"):
        BiasCell(0.1, 3)


def test_a_model_stands_once_in_a_panel() -> None:
    with pytest.raises(ValueError, match="twice"):
        TaskPanel("t", "acc", 5, (Entry("a", 1.0), Entry("a", 2.0)))
