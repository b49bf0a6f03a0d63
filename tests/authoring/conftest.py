"""No test of this folder asks the network or loads a scorer model."""

import datasets
import huggingface_hub.constants
import pytest


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    # The libraries read the variables when they are imported; other tests of this process want them online.
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")
    monkeypatch.delenv("LM_EVAL_ITA_DATA", raising=False)
