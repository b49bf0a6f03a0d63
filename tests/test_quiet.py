"""What the libraries show."""

import os

import pytest

from lm_eval_ita._quiet import quiet_bars


def test_bars_are_off_but_for_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    quiet_bars("hf")
    assert os.environ["TQDM_DISABLE"] == "1"
    quiet_bars("vllm")
    assert "TQDM_DISABLE" not in os.environ, "vLLM divides by the time of its bar"
