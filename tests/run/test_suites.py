"""Both suites through the plain `lm_eval` command, with no network: a random model for the wiring, real tokenizers."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.harness.task_files import tasks_path
from tests.models import gemma, smollm2, tiny_lm

pytestmark = pytest.mark.slow

# The command with every outgoing connection made to fail: local files must be enough.
PROGRAM = """
import socket
real = socket.socket.connect
def connect(self, address):
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
        raise OSError(f"no network in this test: {address}")
    return real(self, address)
socket.socket.connect = connect
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""


def lm_eval(
    output: Path, environment: dict[str, str], *arguments: str, launcher: tuple[str, ...] = ("-c", PROGRAM)
) -> dict[str, Any]:
    command = [
        sys.executable,
        *launcher,
        "run",
        "--model",
        "hf",
        "--include_path",
        str(tasks_path()),
        "--output_path",
        str(output),
    ]
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LM_EVAL_ITA_B", "LM_EVAL_ITA_N", "LM_EVAL_ITA_D"))
    }
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, env={**clean, "HF_HUB_OFFLINE": "1", **environment}
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (saved,) = output.rglob("results_*.json")
    return dict(json.loads(saved.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_lm(tmp_path_factory.mktemp("lm"))


def on(model: Path, *more: str) -> tuple[str, ...]:
    return (
        "--model_args",
        f"pretrained={model},dtype=float32",
        "--batch_size",
        "8",
        "--metadata",
        '{"data_dir": "sample"}',
        *more,
    )


def test_both_suites_end_to_end(model: Path, tmp_path: Path, tiny_bert: Path, tiny_classifier: Path) -> None:
    scorers = {"LM_EVAL_ITA_BERTSCORE_MODEL": str(tiny_bert), "LM_EVAL_ITA_NEUTRALITY_MODEL": str(tiny_classifier)}
    arguments = on(
        model,
        "--device",
        "cpu",
        "--tasks",
        "itaeval,itapat",
        "--limit",
        "2",
        "--log_samples",
        "--gen_kwargs",
        "max_gen_toks=16",
    )
    results = lm_eval(tmp_path, {**scorers, "LM_EVAL_ITA_SCORER_DEVICE": "cpu"}, *arguments)
    tasks = [
        name for name, config in results["configs"].items() if config["metadata"]["suite"] in ("itaeval", "itapat")
    ]
    assert len(tasks) == 18 + 16
    for name in tasks:
        figures = results["results"][name]
        if name.startswith("itaeval"):
            assert math.isfinite(figures["score,none"]), name
    for group in ("itaeval_nlu", "itaeval_cfk", "itaeval_bfs"):
        assert math.isfinite(results["groups"][group]["score,none"])
    setup = results["results"]["itaeval_news_sum"]["bertscore_parts,none"]["setup"]
    assert setup["encoder"] == str(tiny_bert)
    assert setup["rescaled"] is False
    assert len(list(tmp_path.rglob("samples_*.jsonl"))) == 34


def test_generated_answers_of_a_local_model(model: Path, tmp_path: Path) -> None:
    arguments = ["--device", "cpu", "--tasks", "itaeval_chat", "--limit", "2", "--gen_kwargs", "max_gen_toks=8"]
    arguments += ["--apply_chat_template", "--fewshot_as_multiturn", "true"]
    results = lm_eval(tmp_path, {"LM_EVAL_ITA_SCORERS": "skip"}, *on(model, *arguments))
    twins = {name: figures for name, figures in results["results"].items() if "invalid,none" in figures}
    assert len(twins) == 14
    for name, figures in twins.items():
        # A random model chooses nothing, or what it happens to say.
        assert sum(figures["outcome,none"]["by_reason"].values()) == 2, name
        assert figures["invalid,none"] in (0, 0.5, 1)
        assert math.isfinite(figures["score,none"])


def test_skipped_scorers_leave_their_metrics_missing(model: Path, tmp_path: Path) -> None:
    arguments = on(
        model,
        "--device",
        "cpu",
        "--tasks",
        "itaeval_nlu,itaeval_gente",
        "--limit",
        "2",
        "--gen_kwargs",
        "max_gen_toks=16",
    )
    results = lm_eval(tmp_path, {"LM_EVAL_ITA_SCORERS": "skip"}, *arguments)
    assert math.isnan(results["results"]["itaeval_news_sum"]["score,none"])
    assert math.isnan(results["results"]["itaeval_gente"]["neutral_rate,none"])
    assert math.isnan(results["groups"]["itaeval_nlu"]["score,none"])
    assert math.isfinite(results["results"]["itaeval_news_sum"]["rougeL,none"])


def alike(first: Any, second: Any) -> bool:
    """Equal, but for the last digits of floats: scorer models see other batches."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(alike(value, second[key]) for key, value in first.items())
    return bool(first == (pytest.approx(second, rel=1e-5) if isinstance(second, float) else second))


def test_two_processes_on_news_give_the_numbers_of_one(model: Path, tmp_path: Path, tiny_bert: Path) -> None:
    """Field report 14."""
    arguments = on(
        model, "--tasks", "itaeval_news_sum,itaeval_ironita_irony", "--limit", "8", "--gen_kwargs", "max_gen_toks=8"
    )
    environment = {"LM_EVAL_ITA_BERTSCORE_MODEL": str(tiny_bert), "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    one = lm_eval(tmp_path / "one", environment, *arguments, "--device", "cpu")
    launch = ("-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2", "--num_machines", "1")
    launch += ("--mixed_precision", "no", "--dynamo_backend", "no", "-m", "lm_eval")
    two = lm_eval(tmp_path / "two", environment, *arguments, launcher=launch)
    for task in ("itaeval_news_sum", "itaeval_ironita_irony"):
        assert alike(one["results"][task], two["results"][task])


@pytest.mark.parametrize("model", [gemma, smollm2], ids=["sentencepiece-gemma", "bpe-smollm2"])
def test_every_choice_is_at_least_one_token(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoTokenizer

    from tests.harness.scripted import manager
    from tests.harness.test_itaeval_tasks import MAIN

    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")
    real = os.environ.get("LM_EVAL_ITA_TEST_DATA")
    tokenizer = AutoTokenizer.from_pretrained(model())
    for name in MAIN:
        folder = real if real and "ami_" not in name else "sample"
        task = manager({"data_dir": folder}).load([name])["tasks"][name]
        if task.OUTPUT_TYPE != "multiple_choice":
            continue
        for position, doc in enumerate(task.eval_docs):
            if position == 100:
                break
            context = task.doc_to_text(doc)
            for choice in task.doc_to_choice(doc):
                assert choice.strip()
                whole = tokenizer(f"{context} {choice}", add_special_tokens=False)["input_ids"]
                alone = tokenizer(context, add_special_tokens=False)["input_ids"]
                assert len(whole) > len(alone), (name, choice)


def test_one_bos_with_and_without_the_harness_adding_it() -> None:
    """Field report 12."""
    from lm_eval.models.huggingface import HFLM

    for options in ({}, {"add_bos_token": True}):
        model = HFLM(pretrained=str(gemma()), dtype="float32", device="cpu", **options)
        bos = model.tokenizer.bos_token_id
        context, continuation = model._encode_pair("Il gatto", " dorme")
        assert [*context, *continuation].count(bos) == (1 if model.add_bos_token is not False else 0), options
