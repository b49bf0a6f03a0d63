import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from lm_eval_ita.metrics.rouge import Rouge, rouge

WORDS = ["il", "gatto", "dorme", "sul", "divano", "rosso", "e", "42"]
ascii_text = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def test_by_hand():
    # Prediction: il gatto dorme, reference: il gatto nero dorme sul divano.
    # rouge1: 3 shared, P 3/3, R 3/6, F 2/3. rouge2: "il gatto" shared, P 1/2, R 1/5, F 2/7. LCS 3: F 2/3.
    (score,) = rouge(["Il gatto dorme."], ["Il gatto nero dorme sul divano"])
    assert score.rouge1 == pytest.approx(2 / 3, abs=1e-12)
    assert score.rouge2 == pytest.approx(2 / 7, abs=1e-12)
    assert score.rougeL == pytest.approx(2 / 3, abs=1e-12)


@given(ascii_text, ascii_text)
def test_equals_the_library_with_its_own_tokenizer_where_that_loses_nothing(prediction, reference):
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(reference, prediction)
    expected = Rouge(**{name: value.fmeasure for name, value in theirs.items()})
    assert rouge([prediction], [reference]) == [expected]


def test_accented_letters_count():
    # The default tokenizer sees "perch" and "perch" and gives 1.0.
    (score,) = rouge(["perché"], ["perchè"])
    assert score.rouge1 == 0.0
    (score,) = rouge(["è così"], ["È COSÌ"])
    assert score == Rouge(1.0, 1.0, 1.0)


def test_composed_and_decomposed_accents_are_the_same():
    text = "perché la città è così"
    assert rouge([unicodedata.normalize("NFD", text)], [text]) == [Rouge(1.0, 1.0, 1.0)]


def test_elisions_are_two_words():
    (score,) = rouge(["uomo"], ["l’uomo"])
    assert score.rouge1 == pytest.approx(2 / 3, abs=1e-12)  # P 1, R 1/2


def test_order_of_rows_does_not_matter_and_rows_are_independent():
    pairs = [("il gatto", "il cane"), ("la casa", "la casa rossa"), ("", "niente")]
    forward = rouge(*zip(*pairs, strict=True))
    assert forward[::-1] == rouge(*zip(*pairs[::-1], strict=True))
    assert forward[2] == Rouge(0.0, 0.0, 0.0)


def test_without_words_scores_zero_and_without_rows_is_empty():
    assert rouge(["", "!?", "a"], ["a", "a", ""]) == [Rouge(0.0, 0.0, 0.0)] * 3
    assert rouge([], []) == []


def test_refuses_bare_strings_and_different_lengths():
    with pytest.raises(TypeError, match="references must be a list"):
        rouge(["a"], "a")
    with pytest.raises(ValueError, match="predictions has 1, references has 2"):
        rouge(["a"], ["a", "b"])
