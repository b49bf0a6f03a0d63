import math
import unicodedata

import pytest
import sacrebleu

from lm_eval_ita.metrics.chrf import chrf

PREDICTIONS = ["Le persone iscritte votano.", "Chi lavora qui è felice."]
REFERENCES = ["Le persone aventi diritto votano.", "Il personale è felice."]


def test_equals_sacrebleu_on_composed_text():
    expected = sacrebleu.corpus_chrf(PREDICTIONS, [REFERENCES]).score
    assert chrf(PREDICTIONS, REFERENCES) == pytest.approx(expected, abs=1e-9)


def test_by_hand():
    # "ab" against "ac": unigrams P = R = 1/2; bigrams 0; longer ones absent. Mean F2 over the orders that exist:
    # (1/2 + 0) / 2 = 1/4.
    assert chrf(["ab"], ["ac"]) == pytest.approx(25.0, abs=1e-9)


def test_decomposed_accents_are_composed_first():
    decomposed = [unicodedata.normalize("NFD", text) for text in PREDICTIONS]
    assert chrf(decomposed, REFERENCES) == chrf(PREDICTIONS, REFERENCES)
    assert sacrebleu.corpus_chrf(decomposed, [REFERENCES]).score != chrf(PREDICTIONS, REFERENCES)


def test_extremes_and_order():
    assert chrf(REFERENCES, REFERENCES) == 100.0
    assert chrf(["xyz"], ["abc"]) == chrf([""], ["abc"]) == 0.0
    assert chrf(PREDICTIONS[::-1], REFERENCES[::-1]) == chrf(PREDICTIONS, REFERENCES)
    assert math.isnan(chrf([], []))


def test_refuses_bare_strings_and_different_lengths():
    with pytest.raises(TypeError, match="predictions must be a list"):
        chrf("abc", ["abc"])
    with pytest.raises(ValueError, match="predictions has 2, references has 1"):
        chrf(PREDICTIONS, REFERENCES[:1])
