"""ItaP-AT on real models, through the harness."""

import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_ita.harness.task_files import tasks_path
from lm_eval_ita.itapat import OUTCOMES, Answer, parse_answer, score_answers
from lm_eval_ita.results import read_run
from lm_eval_ita.run.evaluate import evaluate_to_folder
from tests.models import gemma, smollm2

pytestmark = pytest.mark.slow


def evaluate(model: Path, **options: Any) -> dict[str, Any]:
    options = {"batch_size": 80, "bootstrap_iters": 0, **options}
    model_args = {"pretrained": str(model), "dtype": "float32", **options.pop("model_args", {})}
    return dict(
        simple_evaluate(
            "hf",
            model_args=model_args,
            tasks=["itapat_gender_7"],
            task_manager=TaskManager(include_path=str(tasks_path()), include_defaults=False),
            device="cpu",
            **options,
        )
    )


@pytest.mark.parametrize(
    ("model", "chat"), [(gemma, False), (smollm2, True)], ids=["gemma-3-270m", "smollm2-135m-instruct-chat"]
)
def test_a_real_model(model: Any, chat: bool) -> None:
    run = partial(evaluate, model(), apply_chat_template=chat)
    first = run()
    figures, samples = first["results"]["itapat_gender_7"], first["samples"]["itapat_gender_7"]
    assert len(samples) == 80
    assert math.isclose(sum(figures[f"prob_{outcome},none"] for outcome in OUTCOMES), 1)
    assert figures["reading,none"] in ("unable", "neutral", "biased", "anti-biased")

    # Rescoring the logged samples, from their text alone, gives the same score.
    answers = []
    for sample in json.loads(json.dumps(samples, default=str)):
        doc = sample["doc"]
        outcome = parse_answer(sample["resps"][0][0], doc["pair"], doc["prompt"]).outcome
        assert outcome == sample["outcome"]
        answers.append(Answer(doc["word"], doc["side"], outcome))
    rescored = score_answers(answers)
    assert rescored.bias_score == pytest.approx(figures["bias_score,none"])
    assert rescored.p_value == figures["p_value,none"]
    assert rescored.standard_error == figures["bias_score_se,none"]

    # A second run gives the same answers; so does another batch size (Gemma is slow: a quarter of the prompts).
    count = len(samples) if chat else 20
    texts = [sample["resps"] for sample in samples[:count]]
    again = run(batch_size=40, limit=count)["samples"]["itapat_gender_7"]
    assert [sample["resps"] for sample in again] == texts

    if chat:
        assert "Sei un assistente utile." in samples[0]["arguments"][0][0]
        assert "<|im_start|>assistant" in samples[0]["arguments"][0][0]
    else:
        assert samples[0]["arguments"][0][0].startswith("Sei un assistente utile.\nRispondi con una sola parola")


def test_automatic_batch_size_and_limit() -> None:
    # lm_eval looks for the largest batch with prompts of the model's full length: hours on a CPU, where nothing runs out.
    bounds = {"max_batch_size": 4, "model_args": {"max_length": 160}}
    result = evaluate(smollm2(), apply_chat_template=True, batch_size="auto", limit=10, **bounds)
    assert result["n-samples"]["itapat_gender_7"] == {"original": 80, "effective": 10}
    assert sum(result["results"]["itapat_gender_7"]["outcome,none"].values()) == 10


def test_two_processes_give_the_numbers_of_one(tmp_path: Path) -> None:
    common = ["-m", "lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={smollm2()},dtype=float32"]
    common += [
        "--tasks",
        "itapat_gender_7",
        "--include_path",
        str(tasks_path()),
        "--limit",
        "11",
        "--apply_chat_template",
    ]
    launch = ["-m", "accelerate.commands.launch", "--cpu", "--num_processes", "2", "--num_machines", "1"]
    launch += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    found = []
    for name, command in (("one", [*common, "--device", "cpu"]), ("two", [*launch, *common])):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
        done = subprocess.run(
            [sys.executable, *command, "--output_path", str(tmp_path / name)],
            capture_output=True, text=True, check=False, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        (saved,) = (tmp_path / name).rglob("results_*.json")
        found.append(json.loads(saved.read_text())["results"])
    assert found[0] == found[1]
    assert found[0]["itapat_gender_7"]["sample_len"] == 11


def test_the_demo_saves_results_and_samples(tmp_path: Path) -> None:
    saved = evaluate_to_folder(["itapat_gender"], smollm2(), tmp_path, limit=10)
    tasks = read_run(saved).tasks
    assert list(tasks) == ["itapat_gender_6", "itapat_gender_7", "itapat_gender_8"]
    for record in tasks.values():
        assert record.n_evaluated == sum(record.breakdowns.outcome.values()) == 10
        assert math.isclose(sum(record.metrics[f"prob_{outcome}"] or 0 for outcome in OUTCOMES), 1)
        assert record.samples is not None
    figures = json.loads(saved.read_text())["results"]["itapat_gender_7"]
    assert figures["bias_score,none"] == tasks["itapat_gender_7"].primary_value
