"""Both suites on vLLM, in process and behind its server, against the hf backend: `make test-vllm`.

Real vLLM on the CPU, a real chat model in float32, real data sets where there are any (else sample rows).
"""

import json
import math
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.results import iter_samples, read_run
from tests.models import smollm2

pytestmark = pytest.mark.vllm

pytest.importorskip("vllm", reason="needs vLLM; `make test-vllm` brings it")

CHOICES = ("xcopa", "arc_challenge", "belebele", "ironita_irony", "sentipolc", "itacola", "hatecheck")
LIKELIHOOD = ",".join(f"itaeval_{name}" for name in CHOICES)
GENERATION = {"itapat_gender_6": "80", "itaeval_squad_it": "8"}  # documents
LIMIT = "8"
# Summed over the tokens of a choice, in nats. Other kernels add float32 numbers in another order.
TOLERANCE = 1e-3
# Greedy answers part where two tokens are equally likely to the last digits, and go on differently from there.
DIFFERING = 0.02
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "2",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "LM_EVAL_ITA_SCORERS": "skip",
    "OPENAI_API_KEY": "none",
}
ENGINE = {"dtype": "float32", "max_model_len": 2048, "enforce_eager": True, "max_num_batched_tokens": 2048}

Samples = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def model() -> Path:
    return smollm2()


def evaluate(output: Path, backend: str, model_args: dict[str, Any], tasks: str, *more: str) -> Samples:
    """The samples of a run of the command, by task."""
    data = os.environ.get("LM_EVAL_ITA_TEST_DATA")
    where = [] if data else ["--metadata", '{"data_dir": "sample"}']
    done = subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval_ita", "run", "--model", backend),
            *("--model_args", json.dumps(model_args), "--tasks", tasks, "--output", str(output), *where, *more),
        ],
        env={**os.environ, **ENVIRONMENT, **({"LM_EVAL_ITA_DATA": data} if data else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    (results,) = output.glob("*/results_*.json")
    run = read_run(results)
    assert run.model.backend == backend
    return {name: list(iter_samples(record.samples)) for name, record in run.tasks.items() if record.samples}


@pytest.fixture(scope="module")
def by_hf(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """The reference: likelihoods without a template, answers with it."""
    folder = tmp_path_factory.mktemp("hf")
    model_args = {"pretrained": str(model), "dtype": "float32"}
    how = ("--device", "cpu", "--batch_size", "4")
    likelihoods = evaluate(folder / "choices", "hf", model_args, LIKELIHOOD, *how, "--limit", LIMIT)
    return {**likelihoods, **answers(folder / "answers", "hf", model_args, *how)}


def answers(output: Path, backend: str, model_args: dict[str, Any], *more: str) -> Samples:
    """Generated answers, with the chat template."""
    found: Samples = {}
    for task, limit in GENERATION.items():
        chat = ("--apply_chat_template", "--limit", limit, "--gen_kwargs", "max_gen_toks=24")
        found |= evaluate(output / task, backend, model_args, task, *chat, *more)
    return found


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """vLLM's own server of OpenAI's protocols; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in ENGINE.items() if value is not True]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)),
                *("--served-model-name", "smollm2", "--host", "127.0.0.1", "--port", str(port)),
                *("--enforce-eager", *options),
            ],
            env={**os.environ, **ENVIRONMENT},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)


def _wait(process: "subprocess.Popen[bytes]", health: str, log: Path) -> None:
    end = time.monotonic() + 600
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8")[-4000:]
        try:
            with urllib.request.urlopen(health, timeout=5):
                return
        except OSError:
            time.sleep(1)
    pytest.fail(f"the server did not answer in time: {log.read_text(encoding='utf-8')[-4000:]}")


def likelihoods(samples: list[dict[str, Any]]) -> list[list[float]]:
    """Summed log-probabilities of each document's choices, in the order of the documents."""
    ordered = sorted(samples, key=lambda sample: sample["doc_id"])
    return [[float(choice[0]) for choice in sample["filtered_resps"]] for sample in ordered]


def same_likelihoods(title: str, ours: Samples, reference: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert the tolerance, and print the figures."""
    lines = [title]
    for task in LIKELIHOOD.split(","):
        one, other = likelihoods(ours[task]), likelihoods(reference[task])
        assert len(one) == len(other) == int(LIMIT)
        pairs = [pair for rows in zip(one, other, strict=True) for pair in zip(*rows, strict=True)]
        largest = max(abs(a - b) for a, b in pairs)
        chosen = sum(a.index(max(a)) != b.index(max(b)) for a, b in zip(one, other, strict=True))
        lines.append(f"{task:<24} {len(one)} documents, {len(pairs)} choices, largest difference {largest:.1e}, "
                     f"{chosen} chosen differently")  # fmt: skip
        assert all(math.isfinite(a) for a, _ in pairs)
        assert largest <= TOLERANCE, task
        assert chosen == 0, task
    with capsys.disabled():
        print("\n" + "\n".join(lines))


def same_answers(title: str, ours: Samples, reference: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert how many answers differ at most, and print the figures."""
    lines = [title]
    for task in GENERATION:
        one, other = (
            [sample["filtered_resps"][0] for sample in sorted(samples[task], key=lambda sample: sample["doc_id"])]
            for samples in (ours, reference)
        )
        differing = sum(a.strip() != b.strip() for a, b in zip(one, other, strict=True))
        lines.append(f"{task:<24} {len(one)} answers, {differing} differ")
        assert len(set(other)) > 1
        assert differing <= DIFFERING * len(one), task
    with capsys.disabled():
        print("\n" + "\n".join(lines))


def test_in_process(model: Path, tmp_path: Path, by_hf: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    model_args = {"pretrained": str(model), **ENGINE}
    choices = evaluate(tmp_path / "choices", "vllm", model_args, LIKELIHOOD, "--limit", LIMIT)
    same_likelihoods("vllm against hf", choices, by_hf, capsys)
    same_answers("vllm against hf", answers(tmp_path / "answers", "vllm", model_args), by_hf, capsys)


def test_completions_of_a_server(
    model: Path, server: str, tmp_path: Path, by_hf: Samples, capsys: pytest.CaptureFixture[str]
) -> None:
    model_args = {
        "base_url": f"{server}/completions",
        **{"model": "smollm2", "tokenizer": str(model), "max_length": 2048, "num_concurrent": 4},
    }
    choices = evaluate(tmp_path / "choices", "local-completions", model_args, LIKELIHOOD, "--limit", LIMIT)
    same_likelihoods("local-completions against hf", choices, by_hf, capsys)
    same_answers(
        "local-completions against hf", answers(tmp_path / "answers", "local-completions", model_args), by_hf, capsys
    )


def test_chat_of_a_server(server: str, tmp_path: Path, by_hf: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    model_args = {"base_url": f"{server}/chat/completions", "model": "smollm2", "num_concurrent": 4}
    same_answers(
        "local-chat-completions against hf",
        answers(tmp_path / "answers", "local-chat-completions", model_args),
        by_hf,
        capsys,
    )

    # Of every task, also of those whose data are on request only.
    sample = ("--metadata", '{"data_dir": "sample"}', "--limit", "4", "--gen_kwargs", "max_gen_toks=24")
    evaluate(tmp_path / "suite", "local-chat-completions", model_args, "itaeval_chat", "--apply_chat_template", *sample)
    (results,) = tmp_path.glob("suite/*/results_*.json")
    run = read_run(results)
    assert len(run.tasks) == 18
    rates = {name: record.metrics.get("invalid") for name, record in run.tasks.items()}
    with capsys.disabled():
        print("\nunread answers of itaeval_chat: " + ", ".join(f"{name} {rate}" for name, rate in rates.items()))
    assert all(0 <= rate <= 1 for rate in rates.values() if rate is not None)
