"""Translation by vLLM against transformers: the command, with a real chat model on the CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.models import smollm2

pytestmark = pytest.mark.vllm

pytest.importorskip("vllm", reason="needs vLLM; `make test-vllm` brings it")

SENTENCES = (
    "The cat sleeps on the sofa.",
    "Which gas do plants take in from the air?",
    "Water boils at 100 degrees.",
    "The train to Rome leaves at half past nine.",
    "She reads a book.",
    "My brother works in a small town near the sea, and comes home every summer.",
    "What is the capital of France?",
    "The teacher explained the lesson twice.",
)


def translated(folder: Path, backend: str, *more: str) -> list[dict[str, Any]]:
    """Rows of `lm-eval-ita translate`, by a backend."""
    data, to = folder / "en.jsonl", folder / f"{backend}.jsonl"
    data.write_text("".join(json.dumps({"q": sentence}) + "\n" for sentence in SENTENCES), encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval_ita", "translate", str(data), "--fields", "q", "--to", str(to)),
            *("--splitter", "rule", "--model", str(smollm2()), "--dtype", "float32", "--backend", backend, *more),
        ],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "WARNING"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]


def test_the_translations_of_transformers(tmp_path: Path) -> None:
    by_hf = translated(tmp_path, "hf", "--device", "cpu", "--batch-size", "1")
    by_vllm = translated(tmp_path, "vllm", "--batch-size", "8")
    # Greedy, and short: where two tokens are equally likely to the last digits, the two may part.
    same = [ours["q"] == theirs["q"] for ours, theirs in zip(by_vllm, by_hf, strict=True)]
    assert sum(same) >= len(SENTENCES) - 1, [(a["q"], b["q"]) for a, b in zip(by_vllm, by_hf, strict=True)]
    assert len({row["q"] for row in by_vllm}) > 1
    settings = by_vllm[0]["_translation"]["settings"]
    assert settings["backend"] == "vllm"
    assert settings["dtype"] == "torch.float32"
    assert settings["prompt"] == "instruct"


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    data = tmp_path / "en.jsonl"
    data.write_text('{"q": "Hello there."}\n', encoding="utf-8")
    words = ["--fields", "q", "--to", str(tmp_path / "it.jsonl"), "--splitter", "rule", "--backend", "vllm"]
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval_ita", "translate", str(data), *words, "--model", str(tmp_path / "nothing")],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr[-4000:]
    assert "cannot be loaded by vLLM" in done.stderr
    assert "Traceback" not in done.stderr
