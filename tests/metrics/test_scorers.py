"""Whether scorer models can be had is told without loading them, and with the network closed."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import lm_eval_ita
from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics import scorers
from lm_eval_ita.metrics.scorers import BERTSCORE, NEUTRALITY, require, scorer_available, scorers_skipped

pytest.importorskip("torch")
pytest.importorskip("transformers")
hub = pytest.importorskip("huggingface_hub")


@pytest.fixture(autouse=True)
def _empty_cache_and_no_network(monkeypatch, tmp_path):
    from huggingface_hub import constants

    def closed(*_args, **_kwargs):
        raise OSError("the test closed the network")

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(socket, "create_connection", closed)
    monkeypatch.setattr(socket, "getaddrinfo", closed)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_local_folder_is_enough(monkeypatch, tiny_bert):
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(tiny_bert))
    assert require(BERTSCORE)
    assert scorer_available(BERTSCORE)


@pytest.mark.parametrize(("absent", "named"), [("model.safetensors", "weights"), ("config.json", "config.json")])
def test_incomplete_folder_is_named(monkeypatch, tiny_bert, tmp_path, absent, named):
    for file in tiny_bert.iterdir():
        if file.name != absent:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", str(tmp_path))
    assert not scorer_available(BERTSCORE)
    with pytest.raises(UserError, match=rf"bertscore needs the model .*holds no {named}; LM_EVAL_ITA_BERTSCORE_MODEL"):
        require(BERTSCORE)


def test_missing_folder_is_not_taken_for_a_hub_id(monkeypatch, tmp_path):
    monkeypatch.setenv("LM_EVAL_ITA_NEUTRALITY_MODEL", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="there is no folder"):
        require(NEUTRALITY)


def test_offline_and_not_in_the_cache_names_model_and_mend(monkeypatch):
    offline(monkeypatch)
    with pytest.raises(UserError) as caught:
        require(NEUTRALITY)
    text = str(caught.value)
    assert text.startswith("neutral_rate needs the model RiTA-nlp/umberto-cased-v1-gn-classifier")
    assert "hf download RiTA-nlp/umberto-cased-v1-gn-classifier" in text
    assert "LM_EVAL_ITA_NEUTRALITY_MODEL" in text
    assert "LM_EVAL_ITA_SCORERS=skip" in text
    assert "\n" not in text


def test_in_the_cache_is_enough_offline(monkeypatch, tiny_bert, tmp_path):
    offline(monkeypatch)
    repository = tmp_path / "cache" / "models--dbmdz--bert-base-italian-xxl-uncased"
    snapshot = repository / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    for file in tiny_bert.iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    assert scorer_available(BERTSCORE)
    (snapshot / "model.safetensors").unlink()
    assert not scorer_available(BERTSCORE)


def test_online_asks_the_hub_and_downloads_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr(hub.HfApi, "model_info", lambda self, name, **options: asked.append(name))
    assert require(BERTSCORE)
    assert asked == ["dbmdz/bert-base-italian-xxl-uncased"]


def test_no_network_is_told_in_one_line():
    with pytest.raises(UserError, match=r"the Hub answers: .*; run `hf download") as caught:
        require(BERTSCORE)
    assert "\n" not in str(caught.value)


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(scorers, "_is_installed", lambda package: package != "torch")
    with pytest.raises(UserError, match=r"torch not installed; pip install 'lm-eval-ita\[scorers\]'"):
        require(BERTSCORE)


def test_skip_needs_nothing(monkeypatch):
    offline(monkeypatch)
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")
    assert scorers_skipped()
    assert require(BERTSCORE) is False
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "maybe")
    with pytest.raises(UserError, match="must be 'require' or 'skip'"):
        require(BERTSCORE)


def test_importing_the_metrics_loads_no_model_library():
    code = (
        "import pkgutil, importlib, sys, lm_eval_ita.metrics as metrics\n"
        "for module in pkgutil.iter_modules(metrics.__path__, 'lm_eval_ita.metrics.'):\n"
        "    importlib.import_module(module.name)\n"
        "heavy = 'torch transformers sklearn sacrebleu rouge_score huggingface_hub bert_score lm_eval'.split()\n"
        "print(*[name for name in heavy if name in sys.modules])"
    )
    paths = {"PYTHONPATH": str(Path(lm_eval_ita.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | paths
    )
    assert done.stdout.strip() == ""
