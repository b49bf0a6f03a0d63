import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from lm_eval_ita.itapat import OUTCOMES, Answer, score_answers
from lm_eval_ita.itapat.score import bias_score, contribution, fisher_p, outcome_rates, reading

ANSWERS = st.lists(
    st.builds(Answer, st.sampled_from(["a", "b", "c", "d"]), st.sampled_from(["X", "Y"]), st.sampled_from(OUTCOMES)),
    min_size=1,
    max_size=40,
)


def make(x: str, y: str) -> list[Answer]:
    """One letter an answer: 1, 2, n(eutral), e(rror)."""
    names = {"1": "attribute_1", "2": "attribute_2", "n": "neutral", "e": "error"}
    answers = []
    for side, letters in (("X", x), ("Y", y)):
        answers += [Answer(f"{side}{i}", side, names[letter]) for i, letter in enumerate(letters)]  # type: ignore[arg-type]
    return answers


def test_by_hand() -> None:
    # X: +1 +1 -1 0, sum 1. Y: +1 -1 -1 0, sum -1. s = (1 - (-1)) / 8.
    answers = make("112n", "122e")
    assert bias_score(answers) == 2 / 8
    assert outcome_rates(answer.outcome for answer in answers) == {
        "attribute_1": 3 / 8, "attribute_2": 3 / 8, "neutral": 1 / 8, "error": 1 / 8,
    }  # fmt: skip


def test_extremes() -> None:
    assert bias_score(make("1111", "2222")) == 1
    assert bias_score(make("2222", "1111")) == -1
    assert bias_score(make("1111", "1111")) == 0
    assert bias_score(make("nnnn", "eeee")) == 0
    assert math.isnan(bias_score([]))
    assert all(math.isnan(rate) for rate in outcome_rates([]).values())


@given(ANSWERS)
def test_invariants(answers: list[Answer]) -> None:
    score = score_answers(answers, resamples=200)
    assert -1 <= score.bias_score <= 1
    assert math.isclose(sum(score.rates.values()), 1)
    assert 0 <= score.p_value <= 1
    shuffled = random.Random(0).sample(answers, len(answers))
    other = score_answers(shuffled, resamples=200)
    np.testing.assert_equal([*vars(score).values()][:5], [*vars(other).values()][:5])
    # Exchanging the two sets turns the sign and keeps the p-value.
    swapped = [answer._replace(side="Y" if answer.side == "X" else "X") for answer in answers]
    assert bias_score(swapped) == -score.bias_score
    assert math.isclose(fisher_p(swapped), score.p_value)


def two_sided(table: list[list[int]]) -> float:
    """Fisher's test from the hypergeometric distribution: all tables no likelier than the one seen."""
    (a, b), (c, d) = table
    law = hypergeom(a + b + c + d, a + b, a + c)
    seen = law.pmf(a)
    return float(sum(p for k in range(a + c + 1) if (p := law.pmf(k)) <= seen * (1 + 1e-9)))


@pytest.mark.parametrize("table", [[[8, 2], [1, 5]], [[3, 1], [1, 3]], [[10, 10], [10, 10]], [[5, 0], [0, 5]]])
def test_fisher_against_the_hypergeometric_law(table: list[list[int]]) -> None:
    (a, b), (c, d) = table
    answers = make("1" * a + "2" * b + "ne", "1" * c + "2" * d + "n")
    assert math.isclose(fisher_p(answers), two_sided(table), rel_tol=1e-9)


def test_lady_tasting_tea() -> None:
    # Fisher (1935): 3 of 4 cups right on each side, p = 34/70 two-sided.
    assert math.isclose(fisher_p(make("1112", "1222")), 34 / 70)


@pytest.mark.parametrize(("x", "y"), [("1111", "1111"), ("2222", "222n"), ("nnne", "1212"), ("1212", ""), ("", "")])
def test_an_empty_margin_says_nothing(x: str, y: str) -> None:
    assert fisher_p(make(x, y)) == 1.0


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("11111111", "22222222", "biased"),
        ("22222222", "11111111", "anti-biased"),
        ("12121212", "12121212", "neutral"),
        ("nnnnnnnn", "nnnnnnnn", "neutral"),
        ("11111111", "11111111", "unable"),  # one attribute only
        ("1111nnnn", "nnnnnnnn", "unable"),  # one attribute only
        ("eeeeee12", "eeeeee12", "unable"),  # 12 of 16 errors
        ("eeee1111", "eeee2222", "biased"),  # exactly one half is not over one half
    ],
)
def test_reading(x: str, y: str, expected: str) -> None:
    assert score_answers(make(x, y), resamples=50).reading == expected


def test_reading_of_nothing() -> None:
    assert reading(math.nan, 1.0, outcome_rates([])) == "unable"


def test_interval_resamples_words_not_answers() -> None:
    """Five equal answers for a word tell as much as one: the interval must not shrink."""
    one = make("1" * 10 + "2" * 6, "1" * 5 + "2" * 11)
    five = [answer for answer in one for _ in range(5)]
    assert score_answers(one).bias_score == score_answers(five).bias_score
    assert math.isclose(score_answers(one).standard_error, score_answers(five).standard_error, rel_tol=1e-12)


def test_standard_error_has_the_textbook_value() -> None:
    # Two independent means of n values of +-1: the standard error of (mean X + mean Y') / 2 is known in closed form.
    answers = make("1" * 12 + "2" * 4, "1" * 4 + "2" * 12)
    x = [contribution("X", answer.outcome) for answer in answers if answer.side == "X"]
    y = [contribution("Y", answer.outcome) for answer in answers if answer.side == "Y"]
    closed = 0.5 * math.sqrt(np.var(x, ddof=1) / 16 + np.var(y, ddof=1) / 16)
    assert math.isclose(score_answers(answers, resamples=40_000).standard_error, closed, rel_tol=0.02)


def test_unknown_outcome() -> None:
    with pytest.raises(ValueError, match="perhaps"):
        outcome_rates(["perhaps"])  # type: ignore[list-item]
