import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score, matthews_corrcoef

from lm_eval_ita.metrics.classification import (
    INVALID,
    accuracy,
    baselines,
    confusion,
    f1_macro,
    label_ids,
    mcc,
    unparsable_rate,
)

LABELS = ["No", "Sì"]
rows = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", INVALID])), min_size=1, max_size=40)


def test_f1_macro_by_hand():
    # No: TP 2, FP 1, FN 0, F1 = 4/5. Sì: TP 1, FP 0, FN 1, F1 = 2/3. Mean = 11/15.
    assert f1_macro(["No", "No", "Sì", "Sì"], ["No", "No", "No", "Sì"], LABELS) == pytest.approx(11 / 15, abs=1e-15)


def test_mcc_by_hand():
    # TP 1, TN 2, FP 0, FN 1: (1*2 - 0*1) / sqrt(1 * 2 * 2 * 3) = 2 / sqrt(12).
    result = mcc(["No", "No", "Sì", "Sì"], ["No", "No", "No", "Sì"])
    assert result.value == pytest.approx(2 / 12**0.5, abs=1e-15)
    assert not result.undefined


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(rows)
def test_equals_sklearn(pairs):
    golds, preds = map(list, zip(*pairs, strict=True))
    labels = ["a", "b", "c", "never"]
    expected = f1_score(golds, preds, labels=labels, average="macro", zero_division=0)
    assert f1_macro(golds, preds, labels) == pytest.approx(expected, abs=1e-12)
    assert mcc(golds, preds).value == pytest.approx(matthews_corrcoef(golds, preds), abs=1e-12)
    assert mcc(golds, preds, labels) == mcc(golds, preds)
    table = confusion_matrix(golds, preds, labels=[*labels, INVALID])[:4]
    np.testing.assert_array_equal(confusion(golds, preds, labels), table)


@given(rows, st.randoms())
def test_order_of_rows_does_not_matter(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    scores = [f1_macro(*map(list, zip(*p, strict=True)), ["a", "b", "c"]) for p in (pairs, shuffled)]
    assert scores[0] == scores[1]


def test_extremes():
    assert f1_macro(LABELS, LABELS, LABELS) == accuracy(LABELS, LABELS) == mcc(LABELS, LABELS).value == 1.0
    assert f1_macro(LABELS, LABELS[::-1], LABELS) == accuracy(LABELS, LABELS[::-1]) == 0.0
    assert mcc(LABELS, LABELS[::-1]).value == -1.0


def test_field_report_8_unparsable_prediction_is_wrong_and_not_a_class():
    golds, preds = ["a", "b", "c", "a"], ["a", "b", "c", INVALID]
    # a: TP 1, FP 0, FN 1, F1 = 2/3. b, c: 1. Mean over a, b, c = 8/9; a fourth class would give 2/3.
    assert f1_macro(golds, preds, ["a", "b", "c"]) == pytest.approx(8 / 9, abs=1e-15)
    assert f1_macro(golds, ["a", "b", "c", None], ["a", "b", "c"]) == f1_macro(golds, preds, ["a", "b", "c"])
    assert unparsable_rate(preds, ["a", "b", "c"]) == 0.25
    assert accuracy(golds, preds) == 0.75
    assert mcc(golds, preds).value < 1.0


@pytest.mark.parametrize(("golds", "preds"), [("ab", "aa"), ("aa", "ab"), ("aa", "aa")])
def test_field_report_8_constant_side_is_zero_and_flagged(golds, preds):
    result = mcc(list(golds), list(preds))
    assert (result.value, result.undefined) == (0.0, True)


def test_field_report_8_mixed_label_types_do_not_raise():
    golds: list[object] = [0, 1, np.int64(1), "0", True]
    preds: list[object] = ["0", "1", 0, 0, "1"]
    assert accuracy(golds, preds) == 0.8
    assert f1_macro(golds, preds, [0, 1]) == f1_macro(list("01101"), list("01001"), ["0", "1"])
    assert mcc(golds, preds).value == pytest.approx(matthews_corrcoef(list("01101"), list("01001")))
    assert not mcc([0, 1, 1], ["0", "1", None]).undefined


def test_unparsable_gold_marker_never_agrees():
    assert accuracy(["a"], [None]) == 0.0
    with pytest.raises(ValueError, match="gold label None"):
        mcc([None, "a"], ["a", "a"])


def test_no_rows_is_missing_not_zero():
    assert np.isnan([f1_macro([], [], LABELS), accuracy([], []), unparsable_rate([], LABELS), mcc([], []).value]).all()
    assert mcc([], []).undefined
    assert np.isnan(baselines([], LABELS).majority.acc)


def test_refuses_what_cannot_be_scored():
    with pytest.raises(TypeError, match="preds must be a list"):
        f1_macro(["a"], "a", ["a"])
    with pytest.raises(ValueError, match="golds has 2, preds has 1"):
        f1_macro(["a", "a"], ["a"], ["a"])
    with pytest.raises(ValueError, match="'z' is not in the label list"):
        f1_macro(["z"], ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="twice"):
        f1_macro(["1"], ["1"], [1, "1"])


def test_majority_baseline_equals_sklearn():
    golds = list("aaaaaabbbc")
    result = baselines(golds, ["a", "b", "c", "d"])
    assert result.majority_label == "a"
    assert result.majority.acc == 0.6
    expected = f1_score(golds, ["a"] * 10, labels=list("abcd"), average="macro", zero_division=0)
    assert result.majority.f1_macro == pytest.approx(expected, abs=1e-12)


def test_chance_baseline_is_what_guessing_gets():
    golds = ["a"] * 6000 + ["b"] * 3000 + ["c"] * 1000
    guesses = np.random.default_rng(0).choice(list("abc"), size=10_000).tolist()
    chance = baselines(golds, ["a", "b", "c"]).chance
    assert chance.acc == pytest.approx(accuracy(golds, guesses), abs=0.02)
    assert chance.f1_macro == pytest.approx(f1_macro(golds, guesses, ["a", "b", "c"]), abs=0.02)
    assert chance.mcc == pytest.approx(mcc(golds, guesses).value, abs=0.02)


def test_label_ids_are_positions_in_the_label_list():
    assert label_ids(["1", 0, True, None, INVALID, "2"], [0, 1]).tolist() == [1, 0, 1, -1, -1, -1]
    with pytest.raises(ValueError, match="twice"):
        label_ids([0], [0, "0"])
    with pytest.raises(TypeError, match="values must be a list"):
        label_ids("01", [0, 1])
