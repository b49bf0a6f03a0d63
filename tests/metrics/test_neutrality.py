import math

import numpy as np
import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics import _scorer_runtime
from lm_eval_ita.metrics import neutrality as module
from lm_eval_ita.metrics.neutrality import neutrality, release

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXTS = [
    "il gatto dorme",
    "la nonna prepara una torta di mele",
    "il governo approva la legge",
    "un cane",
    "la casa",
    "treno per bologna con ritardo",
]


@pytest.fixture
def classifier(tiny_classifier, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_NEUTRALITY_MODEL", str(tiny_classifier))
    return tiny_classifier


def test_equals_the_transformers_pipeline(classifier):
    pipeline = transformers.pipeline("text-classification", model=str(classifier), device="cpu", top_k=None)
    expected = [{row["label"]: row["score"] for row in rows}["neutral"] for rows in pipeline(TEXTS)]
    result = neutrality(TEXTS, batch_size=2)
    np.testing.assert_allclose(result.probability, expected, atol=1e-5)
    assert result.neutral.tolist() == [probability > 0.5 for probability in expected]
    assert result.neutral.any()
    assert not result.neutral.all()


def test_rate_by_hand(classifier):
    verdicts = dict(zip(TEXTS, neutrality(TEXTS).neutral, strict=True))
    yes = next(text for text, neutral in verdicts.items() if neutral)
    no = next(text for text, neutral in verdicts.items() if not neutral)
    result = neutrality([yes, no, yes, ""])
    assert result.rate == 0.5  # two of four: the empty text is not neutral and counts
    assert result.neutral.tolist() == [True, False, True, False]
    assert (result.empty, result.clipped) == (1, 0)
    assert (result.classifier, result.device, result.dtype) == (str(classifier), "cpu", "float32")


def test_order_and_batches_do_not_change_verdicts(classifier):
    forward, backward = neutrality(TEXTS), neutrality(TEXTS[::-1], batch_size=1)
    np.testing.assert_allclose(forward.probability, backward.probability[::-1], atol=1e-6)


def test_field_report_3_long_text_is_clipped_and_counted(classifier):
    result = neutrality([" ".join(["il gatto"] * 1500)] * 2 + TEXTS[:1])
    assert result.clipped == 2
    assert np.isfinite(result.probability).all()


def test_field_report_5_loaded_once_only_when_needed_and_released(classifier, monkeypatch):
    loads = []
    load = module._load
    monkeypatch.setattr(module, "_load", lambda source: loads.append(source) or load(source))
    assert math.isnan(neutrality([]).rate)
    assert neutrality(["", " "]).rate == 0.0
    assert loads == []
    neutrality(TEXTS)
    neutrality(TEXTS)
    assert loads == [str(classifier)]
    release()
    assert _scorer_runtime._LOADED == {}


def test_field_report_5_full_device_falls_back_to_the_cpu(classifier, monkeypatch):
    expected = neutrality(TEXTS)
    (runtime,) = _scorer_runtime._LOADED.values()
    runtime.device = "meta"  # the weights are on the CPU: reaching them from here fails
    forward = runtime.model.forward

    def full(**inputs):
        if runtime.device != "cpu":
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(**inputs)

    monkeypatch.setattr(runtime.model, "forward", full)
    result = neutrality(TEXTS)
    assert result.device == "cpu"
    np.testing.assert_allclose(result.probability, expected.probability, atol=1e-6)


def test_model_without_the_label_is_refused(classifier, monkeypatch):
    load = module._load

    def other_labels(source):
        model, tokenizer = load(source)
        model.config.id2label = {0: "LABEL_0", 1: "LABEL_1"}
        return model, tokenizer

    monkeypatch.setattr(module, "_load", other_labels)
    with pytest.raises(UserError, match="no label 'neutral'; its labels are LABEL_0, LABEL_1"):
        neutrality(TEXTS)


def test_encoder_without_a_head_is_refused(tiny_bert, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_NEUTRALITY_MODEL", str(tiny_bert))
    with pytest.raises(UserError, match=r"are not a classifier's: they lack classifier\.bias"):
        neutrality(TEXTS)


def test_refuses_a_bare_string():
    with pytest.raises(TypeError, match="texts must be a list"):
        neutrality("la casa")
