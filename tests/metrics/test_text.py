import math

import pytest

from lm_eval_ita.metrics.text import copied, copied_rate, empty_rate, is_empty, word_tokens


def test_word_tokens():
    assert word_tokens("L’uomo non c'è: perche\u0301? 3,5 put\u00adtana") == [
        *["l", "uomo", "non", "c", "è", "perché", "3", "5", "puttana"]
    ]


@pytest.mark.parametrize(
    ("prediction", "source", "expected"),
    [
        ("Gli studenti.", "Gli studenti.", True),
        ("  gli  studenti.\n", "Gli studenti.", True),
        ("perche\u0301", "Perché", True),
        ("Gli studenti", "Gli studenti.", False),
        ("Le persone che studiano.", "Gli studenti.", False),
        ("", "", False),
    ],
)
def test_copied(prediction, source, expected):
    assert copied(prediction, source) is expected


def test_rates_by_hand():
    assert copied_rate(["A", "b", "c", ""], ["a", "b", "x", ""]) == 0.5
    assert empty_rate(["", " \n", "\u200b", "a"]) == 0.75
    assert is_empty("\ufeff")


def test_no_rows_is_missing_not_zero():
    assert math.isnan(copied_rate([], []))
    assert math.isnan(empty_rate([]))


def test_refuses_bare_strings():
    with pytest.raises(TypeError, match="predictions must be a list"):
        empty_rate("abc")
    with pytest.raises(TypeError, match="sources must be a list"):
        copied_rate(["a"], "a")
