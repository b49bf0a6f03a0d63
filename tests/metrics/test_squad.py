import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.metrics.squad import exact_match, f1, mean_defined, normalize_answer

# What Italian answers are made of, and what trips a normaliser.
PIECES = [*"abceiloruz àèéìòù LAÈ 0123456789 .,;:-'’\"«»()%€/!?\n\t", "l'", "dell’", "gli ", "e\u0300"]
italian = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("L'uomo", "uomo"),
        ("l’uomo", "uomo"),
        ("dell' embargo", "embargo"),  # SQuAD-it puts a space after the apostrophe
        ("un'altra", "altra"),
        ("Nella città degli Angeli", "città angeli"),
        ("d'Italia", "d italia"),  # a simple preposition stays
        ("3.5", "3.5"),
        ("3,5", "3.5"),
        ("circa 3,5 km.", "circa 3.5 km"),
        ("1.000.000", "1.000.000"),
        ("-5", "-5"),
        ("1990-1995", "1990 1995"),
        ("Covid-19", "covid 19"),
        ("rosso,verde", "rosso verde"),
        ("«Roma»!", "roma"),
        ("U.S.A.", "usa"),
        ("44 a.C.", "44 ac"),
        ("5 €", "5"),
        ("All Star Game", "all star game"),  # English "all" is no "all'"
        ("5 l", "5 l"),  # litres
        ("collo", "collo"),  # holds "lo", is a noun
        ("lavoro", "lavoro"),  # starts with "la"
        ("perche\u0301", "perché"),  # NFC
        ("La", "la"),  # the note: articles alone stay
        ("dell'", "dell"),
        ("%", "%"),
        ("  ", ""),
    ],
)
def test_normalize_answer(answer, expected):
    assert normalize_answer(answer) == expected


def test_exact_match_by_hand():
    # "nel 1973" and "1973" are both "1973"; "il 3" is "3", which is not "3.5".
    assert exact_match("nel 1973.", ["1973"]) == 1.0
    assert exact_match("3", ["3.5"]) == exact_match("il 3", ["3,5"]) == 0.0
    assert exact_match("3,5", ["3.5"]) == 1.0


def test_f1_by_hand():
    # "l'esercito romano" -> esercito, romano; "esercito dell'impero romano" -> esercito, impero, romano.
    # P = 2/2, R = 2/3, F1 = 0.8.
    assert f1("l'esercito romano", ["esercito dell'impero romano"]) == pytest.approx(0.8, abs=1e-15)
    # A repeated token counts as often as the gold answer has it: P = 1/3, R = 1, F1 = 0.5.
    assert f1("roma roma roma", ["Roma"]) == pytest.approx(0.5, abs=1e-15)


def test_field_report_6_maximum_over_gold_answers():
    golds = ["esercito dell'impero romano", "senato", "la legione"]
    assert f1("l'esercito romano", golds) == pytest.approx(0.8, abs=1e-15)
    assert f1("l'esercito romano", golds[::-1]) == pytest.approx(0.8, abs=1e-15)
    assert exact_match("l'esercito romano", golds) == 0.0
    assert exact_match("legione", golds) == 1.0
    assert mean_defined([f1("l'esercito romano", golds), f1("nulla", golds)]).value == pytest.approx(0.4)


def test_no_prediction_is_wrong_and_no_gold_is_missing():
    assert exact_match("", ["Roma"]) == f1("", ["Roma"]) == f1(" \n", ["Roma"]) == 0.0
    assert exact_match("", ["Roma", ""]) == 0.0  # SQuAD-it has blank gold answers: no free point for silence
    for golds in ([], ["", " "]):
        assert math.isnan(exact_match("Roma", golds))
        assert math.isnan(f1("Roma", golds))


def test_refuses_one_gold_answer_as_a_string():
    with pytest.raises(TypeError, match="golds must be a list"):
        f1("Roma", "Roma")


@given(italian)
def test_normalising_twice_changes_nothing(text):
    once = normalize_answer(text)
    assert normalize_answer(once) == once


@given(italian)
def test_nothing_but_blank_becomes_empty(text):
    assert bool(normalize_answer(text)) == bool(text.strip())


@given(italian.filter(str.strip))
def test_an_answer_matches_itself_in_any_dress(text):
    dressed = f"  {text.replace(chr(39), chr(8217)).upper().lower()} \n"
    assert exact_match(text, [dressed]) == f1(text, [dressed]) == 1.0


@given(italian, st.lists(italian.filter(str.strip), min_size=1, max_size=4))
def test_f1_is_a_share_at_least_exact_match_and_symmetric(text, golds):
    assert exact_match(text, golds) <= f1(text, golds) <= 1.0
    if text.strip():
        assert f1(text, golds[:1]) == f1(golds[0], [text])


@given(st.integers(0, 999), st.integers(0, 99))
def test_a_decimal_number_is_never_its_whole_part(whole, part):
    assert f1(f"{whole}", [f"{whole}.{part}"]) == f1(f"{whole}", [f"{whole},{part}"]) == 0.0


def test_every_gold_answer_of_squad_it_scores_one_against_itself(data):
    with (data / "squad_it" / "test.jsonl").open(encoding="utf-8", newline="\n") as lines:
        answers = [json.loads(line)["answers"]["text"] for line in lines]
    assert len(answers) > 6000
    for golds in answers:
        for gold in filter(str.strip, set(golds)):
            assert normalize_answer(gold)
            assert exact_match(gold, golds) == f1(gold, golds) == 1.0
