import math
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import logsumexp

from lm_eval_ita.metrics.multiple_choice import acc, acc_norm, best, best_per_character, mc1, mc2, mean_defined

questions = st.lists(st.tuples(st.floats(-2000, 0), st.integers(0, 1)), min_size=1, max_size=12)
nan, inf = math.nan, math.inf


def test_acc_norm_by_hand():
    # Per character: "sì" -3.0 / 2 = -1.5, "forse no" -4.0 / 8 = -0.5. acc picks the first, acc_norm the second.
    assert acc([-3.0, -4.0], gold=1) == 0.0
    assert acc_norm([-3.0, -4.0], ["sì", "forse no"], gold=1) == 1.0


def test_the_choice_itself():
    assert best([-3.0, -4.0, -3.0]) == 0
    assert best_per_character([-3.0, -4.0], ["sì", "forse no"]) == 1
    assert best_per_character([-1.0, -9.0], ["", "no"]) == 1
    assert (
        best([nan, -1.0]) is best([]) is best_per_character([-inf], ["a"]) is best_per_character([-1.0], [""]) is None
    )


def test_acc_norm_divides_by_characters_not_bytes():
    # Characters: -2.0 / 2 = -1 beats -3.3 / 3 = -1.1; in bytes ("èè" has 4, "abc" 3) the margin would grow, so the
    # accented choice is made the loser: characters -2.4 / 2 = -1.2 < -1.1, bytes -0.6 > -1.1.
    assert acc_norm([-2.4, -3.3], ["èè", "abc"], gold=1) == 1.0


def test_ties_go_to_the_first_choice():
    assert acc([-1.0, -1.0], gold=0) == 1.0
    assert acc([-1.0, -1.0], gold=1) == 0.0
    assert mc1([-1.0, -1.0], [0, 1]) == 0.0


def test_field_report_1_small_likelihoods_do_not_vanish():
    # 1 / (1 + e^-1) = 0.731058...
    assert mc2([-1000, -1001], [1, 0]) == pytest.approx(0.7310585786300049, abs=1e-12)


def test_field_report_1_all_nan_is_counted_as_invalid():
    values = [mc2([nan, nan], [1, 0]), mc2([-1000, -1001], [1, 0])]
    assert math.isnan(values[0])
    result = mean_defined(values)
    assert (result.n, result.invalid) == (1, 1)
    assert result.value == pytest.approx(0.7310585786300049)
    assert math.isnan(mean_defined(values[:1]).value)


def test_field_report_1_all_labels_true_does_not_crash():
    assert mc2([-3.0, -700.0], [1, 1]) == 1.0
    assert mc2([-3.0, -700.0], [0, 0]) == 0.0
    assert mc1([-3.0, -700.0], [1, 1]) == 1.0


def test_labels_in_any_order():
    assert mc2([-2.0, -1.0, -3.0], [0, 1, 1]) == pytest.approx(mc2([-1.0, -3.0, -2.0], [1, 1, 0]), abs=1e-15)
    assert mc1([-2.0, -1.0, -3.0], [0, 1, 1]) == 1.0


@given(questions)
def test_mc2_equals_scipy(question):
    lls, labels = (np.array(values) for values in zip(*question, strict=True))
    expected = np.exp(logsumexp(lls[labels == 1]) - logsumexp(lls)) if labels.any() else 0.0
    assert mc2(lls, labels) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@example([(0.0, 1), (-1.0, 1), (-2.0, 1), (-3.0, 1), (-36.0, 0), *[(0.0, 1)] * 3, (-1.0, 1)], 0.0, Random(0))
@given(questions, st.floats(-500, 0), st.randoms())
def test_mc2_ignores_order_and_a_common_factor(question, shift, random):
    shuffled = [(ll + shift, label) for ll, label in random.sample(question, len(question))]
    values = [mc2(*map(list, zip(*rows, strict=True))) for rows in (question, shuffled)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert 0.0 <= values[0] <= 1.0


@pytest.mark.parametrize("lls", [[nan, -1.0], [-1.0, nan], [inf, -1.0], [-inf, -inf]])
def test_what_ranks_nothing_has_no_value(lls):
    scores = [acc(lls, 0), acc_norm(lls, ["a", "b"], 0), mc1(lls, [1, 0]), mc2(lls, [1, 0])]
    assert np.isnan(scores).all()


def test_impossible_choice_is_a_value():
    assert mc2([-inf, -1.0], [1, 0]) == 0.0
    assert acc([-inf, -1.0], gold=1) == 1.0


def test_empty_choice_is_never_picked():
    assert acc_norm([-0.1, -9.0], ["", "bene"], gold=1) == 1.0
    assert acc_norm([0.0, -9.0], ["", "bene"], gold=1) == 1.0


def test_no_choices_and_no_questions_are_missing():
    assert math.isnan(mc2([], []))
    assert math.isnan(mc1([], []))
    assert math.isnan(mean_defined([]).value)


def test_refuses_what_cannot_be_scored():
    with pytest.raises(ValueError, match="gold is 2"):
        acc([-1.0, -2.0], gold=2)
    with pytest.raises(ValueError, match="gold is -1"):
        acc_norm([-1.0, -2.0], ["a", "b"], gold=-1)
    with pytest.raises(TypeError, match="choices must be a list"):
        acc_norm([-1.0, -2.0], "ab", gold=0)
    with pytest.raises(ValueError, match="lls has 2, labels has 1"):
        mc2([-1.0, -2.0], [1])
    with pytest.raises(ValueError, match="0 or 1"):
        mc2([-1.0, -2.0], [1, 2])


def test_acc_and_acc_norm_follow_the_installed_harness():
    task = pytest.importorskip("lm_eval.api.task")
    harness = task.ConfigurableTask.__new__(task.ConfigurableTask)
    choices = ["sì", "no, mai", "perché no?", "è così"]
    harness.__dict__.update(
        OUTPUT_TYPE="multiple_choice",
        _metric_fn_list={"acc": None, "acc_norm": None},
        multiple_input=False,
        multiple_target=0,
    )
    harness.__dict__["_config"] = task.TaskConfig(task="x", output_type="multiple_choice")
    harness.doc_to_choice = lambda doc: choices
    harness.doc_to_text = lambda doc: ""
    harness.doc_to_target = lambda doc: doc["gold"]
    rng = np.random.default_rng(0)
    for _ in range(50):
        lls, gold = (-20 * rng.random(4)).tolist(), int(rng.integers(4))
        theirs = harness.process_results({"gold": gold}, [(ll, False) for ll in lls])
        assert (theirs["acc"], theirs["acc_norm"]) == (acc(lls, gold), acc_norm(lls, choices, gold))
