"""Metrics under test: defaults for the scorer models, and the real data where there is any."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run, and no time limit for one: machines are shared.
settings.register_profile("metrics", deadline=None, derandomize=True)
settings.load_profile("metrics")


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
def data(real_data: Path) -> Path:
    """The folder of real data sets."""
    return real_data
