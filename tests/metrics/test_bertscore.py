"""BERTScore: wiring on a tiny random BERT, properties on a real encoder, values against the bert-score library."""

import logging
import math

import numpy as np
import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics import _greedy_matching, _scorer_runtime
from lm_eval_ita.metrics import bertscore as module
from lm_eval_ita.metrics.bertscore import PUBLISHED, Baseline, bertscore, config_from_env, estimate_baseline, release

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

NORMAL = "il gatto dorme sul divano"
SENTENCES = [
    "il gatto dorme sul divano",
    "il cane mangia la torta",
    "il governo approva la legge",
    "il treno parte con ritardo per bologna",
    "la nonna prepara una torta di mele , per il gatto e per il cane",
]


@pytest.fixture
def tiny(tiny_bert, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(tiny_bert))
    return tiny_bert


@pytest.fixture
def real(minilm, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(minilm))
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_LAYER", "5")
    return minilm


def library_scores(folder, layer, predictions, references):
    """P, R, F1 of the bert-score library on ordinary texts, which it can do under transformers 5."""
    scorer = pytest.importorskip("bert_score").BERTScorer(model_type=str(folder), num_layers=layer, device="cpu")
    scorer._tokenizer.model_max_length = 40
    return np.stack([values.numpy() for values in scorer.score(predictions, references)], axis=1)


def ours(result):
    return np.stack([result.precision, result.recall, result.f1], axis=1)


def test_greedy_match_by_hand():
    # Prediction tokens x, y against reference tokens x, x', z with cosines
    #        x    x'   z          precision: best of rows 1, 0.6 -> 0.8
    #   x    1   0.8   0          recall: best of columns 1, 0.8, 0 -> 0.6
    #   y    0   0.6   0          F1 = 2 * 0.8 * 0.6 / 1.4 = 0.685714...
    hyp = torch.tensor([[[1.0, 0, 0], [0, 1.0, 0]]])
    ref = torch.tensor([[[1.0, 0, 0], [0.8, 0.6, 0], [0, 0, 1.0]]])
    scores = _greedy_matching.greedy_match(hyp, torch.ones(1, 2), ref, torch.ones(1, 3))
    np.testing.assert_allclose(scores.numpy(), [[0.8, 0.6, 0.96 / 1.4]], atol=1e-6)


def test_equals_the_bert_score_library_on_a_tiny_encoder(tiny):
    predictions = [text for text in SENTENCES for _ in SENTENCES]
    references = SENTENCES * len(SENTENCES)
    expected = library_scores(tiny, 2, predictions, references)
    np.testing.assert_allclose(ours(bertscore(predictions, references, batch_size=4)), expected, atol=2e-6)


def test_equals_the_bert_score_library_on_a_real_encoder(real):
    predictions, references = SENTENCES[:4], [SENTENCES[1], SENTENCES[4], SENTENCES[2], "Il convoglio è in ritardo."]
    expected = library_scores(real, 5, predictions, references)
    np.testing.assert_allclose(ours(bertscore(predictions, references)), expected, atol=2e-6)


def test_field_report_2_empty_texts_score_zero_and_are_counted(tiny, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_BASELINE", "0.4,0.4,0.4")
    predictions = ["", "  ", "\n", SENTENCES[1], SENTENCES[1]]
    references = [NORMAL, NORMAL, NORMAL, NORMAL, ""]
    result = bertscore(predictions, references)
    alone = bertscore([SENTENCES[1]], [NORMAL])
    assert result.f1.tolist()[:3] == [0.0] * 3
    assert result.rescaled_f1.tolist()[:3] == [0.0] * 3
    assert (result.f1[4], result.rescaled_f1[4]) == (0.0, 0.0)
    assert result.f1[3] == pytest.approx(alone.f1[0], abs=1e-6)
    assert result.f1[3] > 0.0
    assert result.rescaled_f1[3] == pytest.approx((alone.f1[0] - 0.4) / 0.6, abs=1e-6)
    assert (result.empty_predictions, result.empty_references) == (3, 1)


def test_text_without_a_token_is_empty_not_nan(tiny):
    result = bertscore(["\u200b", "\x00"], [NORMAL, NORMAL])  # the tokenizer drops control characters
    assert result.f1.tolist() == [0.0, 0.0]
    assert result.empty_predictions == 2


def test_field_report_3_long_text_is_clipped_and_counted_though_the_tokenizer_declares_no_limit(tiny):
    loop = " ".join(["il gatto dorme"] * 1000)
    result = bertscore([loop, NORMAL], [NORMAL, loop])
    assert result.max_tokens == 40
    assert (result.clipped_predictions, result.clipped_references) == (1, 1)
    assert np.isfinite(result.f1).all()
    cut = " ".join(loop.split()[:38])  # 40 positions less the two special tokens
    clean = bertscore([cut], [NORMAL])
    assert clean.clipped_predictions == 0
    assert clean.f1[0] == pytest.approx(result.f1[0], abs=1e-6)


def test_positions_of_roberta_are_reserved_up_to_the_padding_index():
    transformers = pytest.importorskip("transformers")
    config = transformers.RobertaConfig(
        vocab_size=10,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=14,
        pad_token_id=1,
    )
    model = transformers.RobertaModel(config)
    tokenizer = type("Unlimited", (), {"model_max_length": int(1e30)})
    assert _scorer_runtime._position_limit(model, tokenizer) == 12
    model(torch.ones(1, 12, dtype=torch.long) * 5)
    with pytest.raises((IndexError, RuntimeError)):
        model(torch.ones(1, 13, dtype=torch.long) * 5)
    tokenizer.model_max_length = 7
    assert _scorer_runtime._position_limit(model, tokenizer) == 7


def test_field_report_4_identical_text_scores_one_and_the_setting_is_recorded(real):
    texts = ["Il Consiglio dei ministri ha approvato la manovra.", "Perché è così tardi?", "a " * 700, "ok"]
    result = bertscore(texts, texts)
    np.testing.assert_allclose(ours(result), 1.0, atol=1e-4)
    assert (result.encoder, result.layer, result.baseline, result.max_tokens) == (str(real), 5, None, 512)
    assert (result.rescaled_f1, result.device, result.dtype) == (None, "cpu", "float32")
    assert math.isnan(result.mean_rescaled_f1)


def test_identical_text_stays_one_after_rescaling(tiny, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_BASELINE", "0.4,0.4,0.4")
    result = bertscore(SENTENCES, SENTENCES)
    np.testing.assert_allclose(result.rescaled_f1, 1.0, atol=1e-4)
    assert result.mean_rescaled_f1 == pytest.approx(1.0, abs=1e-4)


def test_paraphrase_scores_above_unrelated_text(real):
    reference = "The government has approved the new budget law."
    paraphrase, unrelated = "The new budget bill was passed by the government.", "My grandmother bakes an apple pie."
    result = bertscore([paraphrase, unrelated], [reference, reference])
    assert 1.0 > result.f1[0] > result.f1[1] + 0.1


def test_prediction_and_reference_swap_precision_and_recall(tiny):
    forward, backward = bertscore(SENTENCES[:2], SENTENCES[2:4]), bertscore(SENTENCES[2:4], SENTENCES[:2])
    np.testing.assert_allclose(forward.precision, backward.recall, atol=1e-6)
    np.testing.assert_allclose(forward.f1, backward.f1, atol=1e-6)


def test_batches_chunks_and_order_do_not_change_scores(tiny, monkeypatch):
    predictions, references = [*SENTENCES, "", NORMAL], [*SENTENCES[::-1], NORMAL, ""]
    whole = bertscore(predictions, references).f1
    monkeypatch.setattr(_greedy_matching, "_CHUNK_TOKENS", 1)
    np.testing.assert_allclose(bertscore(predictions, references, batch_size=1).f1, whole, atol=1e-5)
    np.testing.assert_allclose(bertscore(predictions[::-1], references[::-1], batch_size=2).f1[::-1], whole, atol=1e-5)


def test_composed_and_decomposed_accents_are_the_same(real):
    assert bertscore(["perche\u0301 e\u0300 tardi"], ["perché è tardi"]).f1[0] == pytest.approx(1.0, abs=1e-6)


def count_texts(monkeypatch):
    """Record the token counts of every text that the encoder sees."""
    seen = []
    embed = _greedy_matching._embed
    monkeypatch.setattr(
        _greedy_matching,
        "_embed",
        lambda runtime, ids, size: seen.append(list(map(len, ids))) or embed(runtime, ids, size),
    )
    return seen


def test_batches_hold_texts_of_similar_length_the_longest_first():
    # 40 and 31 pad to 40 (31 is above three quarters of it), 12 does not join; two at most per batch.
    assert list(_scorer_runtime.length_batches([12, 40, 31, 12, 12], 2)) == [[1, 2], [0, 3], [4]]
    assert list(_scorer_runtime.length_batches([], 2)) == []


def test_equal_texts_are_encoded_once(tiny, monkeypatch):
    bertscore([NORMAL], [NORMAL])
    seen = count_texts(monkeypatch)
    result = bertscore([SENTENCES[1]] * 50, [NORMAL] * 49 + [SENTENCES[2]])
    assert sum(map(len, seen)) == 3
    assert len(set(result.f1[:49])) == 1
    assert result.f1[49] != result.f1[0]


def test_field_report_5_encoder_is_loaded_once_and_only_when_needed(tiny, monkeypatch):
    loads = []
    load = module.load_encoder
    monkeypatch.setattr(module, "load_encoder", lambda *args: loads.append(args) or load(*args))
    assert bertscore([], []).f1.shape == (0,)
    assert math.isnan(bertscore([], []).mean_f1)
    assert bertscore([""], [" "]).empty_predictions == 1
    assert loads == []
    bertscore([NORMAL], [NORMAL])
    bertscore([SENTENCES[1]], [NORMAL])
    assert len(loads) == 1
    release()
    assert _scorer_runtime._LOADED == {}
    bertscore([NORMAL], [NORMAL])
    assert len(loads) == 2


def test_self_test_runs_before_the_first_score_only(tiny, monkeypatch):
    seen = count_texts(monkeypatch)
    bertscore([NORMAL], [NORMAL])
    first = len(seen)
    bertscore([NORMAL], [NORMAL])
    assert first > 1
    assert len(seen) == first + 1


@pytest.mark.parametrize("fault", ["constant", "nan", "padding"])
def test_self_test_refuses_a_broken_encoder(tiny, monkeypatch, fault):
    load = module.load_encoder

    def broken(*args):
        model, tokenizer = load(*args)
        forward = model.forward

        def wrong(input_ids, attention_mask):
            output = forward(input_ids=input_ids, attention_mask=attention_mask)
            hidden = output.last_hidden_state
            if fault == "constant":
                output.last_hidden_state = torch.ones_like(hidden)
            elif fault == "nan":
                output.last_hidden_state = torch.full_like(hidden, math.nan)
            else:  # the mask is ignored: padding is attended to
                return forward(input_ids=input_ids, attention_mask=torch.ones_like(attention_mask))
            return output

        model.forward = wrong
        return model, tokenizer

    monkeypatch.setattr(module, "load_encoder", broken)
    with pytest.raises(UserError, match="fails its self-test"):
        bertscore([NORMAL], [SENTENCES[1]])
    assert _scorer_runtime._LOADED == {}


def test_published_configuration():
    assert config_from_env() == PUBLISHED
    assert PUBLISHED.encoder == "dbmdz/bert-base-italian-xxl-uncased"
    assert (PUBLISHED.layer, PUBLISHED.baseline) == (10, Baseline(0.4082575, 0.40829876, 0.40613624))


def test_published_baseline_rescales_the_published_encoder_only(monkeypatch, tiny_bert):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_LAYER", "9")
    assert config_from_env().baseline is None
    monkeypatch.delenv("LM_EVAL_ITA_BERTSCORE_LAYER")
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(tiny_bert))
    assert config_from_env().baseline is None
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_BASELINE", "0.1, 0.2, 0.3")
    assert config_from_env().baseline == Baseline(0.1, 0.2, 0.3)


def test_layer_is_cut_and_recorded(tiny, monkeypatch):
    assert bertscore([NORMAL], [SENTENCES[1]]).layer == 2
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_LAYER", "1")
    cut = bertscore([NORMAL], [SENTENCES[1]])
    assert cut.layer == 1
    np.testing.assert_allclose(ours(cut), library_scores(tiny, 1, [NORMAL], [SENTENCES[1]]), atol=2e-6)
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_LAYER", "3")
    with pytest.raises(UserError, match="has 2 layers, BERTScore asks for layer 3"):
        bertscore([NORMAL], [SENTENCES[1]])


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LM_EVAL_ITA_BERTSCORE_LAYER", "ten"),
        ("LM_EVAL_ITA_BERTSCORE_BASELINE", "0.4"),
        ("LM_EVAL_ITA_BERTSCORE_BASELINE", "a,b,c"),
        ("LM_EVAL_ITA_SCORER_DTYPE", "float8"),
        ("LM_EVAL_ITA_SCORER_DEVICE", "quantum"),
    ],
)
def test_bad_setting_is_one_clear_line(tiny, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(UserError, match=f"^{variable} is '{value}'"):
        bertscore([NORMAL], [NORMAL])


def test_folder_without_encoder_weights_is_refused(tiny, monkeypatch, tmp_path):
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((tiny / name).read_bytes())
    safetensors = pytest.importorskip("safetensors.torch")
    safetensors.save_file({"stranger": torch.zeros(1)}, tmp_path / "model.safetensors", metadata={"format": "pt"})
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(tmp_path))
    with pytest.raises(UserError, match=r"the weights of .* lack"):
        bertscore([NORMAL], [NORMAL])


def test_missing_folder_is_one_clear_line(monkeypatch, tmp_path):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="cannot load the bertscore model"):
        bertscore([NORMAL], [NORMAL])


def test_half_precision_still_scores_identical_text_one(tiny):
    encoder, tokenizer = _greedy_matching.load_encoder(str(tiny), None)
    runtime = _scorer_runtime.Runtime(encoder, tokenizer, "cpu", "float32")
    runtime.dtype = "bfloat16"
    runtime.model.to(torch.bfloat16)
    _greedy_matching.self_test(runtime)


def test_field_report_5_full_device_falls_back_to_the_cpu_without_a_second_load(tiny, monkeypatch, caplog):
    """A "GPU" that is out of memory at the first batch: the device is only a name here, the tensors are on the CPU."""
    expected = bertscore(SENTENCES, SENTENCES[::-1])
    (runtime,) = _scorer_runtime._LOADED.values()
    forward, batch = runtime.model.forward, runtime.batch
    runtime.device = "cuda"

    def full(**inputs):
        if runtime.device == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(**inputs)

    def on_cpu(ids):
        device, runtime.device = runtime.device, "cpu"
        try:
            return batch(ids)
        finally:
            runtime.device = device

    monkeypatch.setattr(runtime.model, "forward", full)
    monkeypatch.setattr(runtime, "batch", on_cpu)
    with caplog.at_level(logging.WARNING):
        result = bertscore(SENTENCES, SENTENCES[::-1])
    assert "cuda is out of memory" in caplog.text
    assert (result.device, result.dtype) == ("cpu", "float32")
    np.testing.assert_allclose(result.f1, expected.f1, atol=1e-6)
    assert list(_scorer_runtime._LOADED.values()) == [runtime]


def test_other_errors_and_a_full_cpu_are_not_hidden(tiny):
    bertscore([NORMAL], [NORMAL])
    (runtime,) = _scorer_runtime._LOADED.values()

    def fail(message):
        def step():
            raise RuntimeError(message)

        return step

    with pytest.raises(RuntimeError, match="out of memory"):
        runtime.on_device(fail("out of memory"))
    runtime.device = "cuda"
    with pytest.raises(RuntimeError, match="shape mismatch"):
        runtime.on_device(fail("shape mismatch"))


def test_estimated_baseline_is_the_mean_of_unrelated_pairs(tiny):
    baseline = estimate_baseline(SENTENCES, pairs=200, seed=1)
    assert baseline == estimate_baseline(SENTENCES, pairs=200, seed=1)
    pairs = [(a, b) for a in SENTENCES for b in SENTENCES if a != b]
    every = bertscore(*zip(*pairs, strict=True))
    assert baseline.f1 == pytest.approx(every.mean_f1, abs=0.02)
    with pytest.raises(ValueError, match="at least two"):
        estimate_baseline(SENTENCES[:1])


def test_refuses_bare_strings_and_different_lengths():
    with pytest.raises(TypeError, match="predictions must be a list"):
        bertscore("abc", ["abc"])
    with pytest.raises(ValueError, match="predictions has 1, references has 2"):
        bertscore(["a"], ["a", "b"])
