"""`hf-packed` inside a run: blocks of its own size, the same figures after an interruption, and with little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from lm_eval_ita.backend.packed import PackedLM  # noqa: E402
from lm_eval_ita.cli.main import main  # noqa: E402
from lm_eval_ita.run.failures import StoppedError  # noqa: E402
from tests.backend import models  # noqa: E402
from tests.run.requests import request  # noqa: E402
from tests.run.test_blockwise import ask  # noqa: E402

CHOICES = (" sì", " no", " non lo so proprio")
REQUESTS = [
    request(number, "Rispondi.\n" + "Il gatto dorme sul divano. " * (number + 1), choice, index)
    for number in range(12)
    for index, choice in enumerate(CHOICES)
]


class Small(PackedLM):
    """A model on a machine with memory for 150 tokens, in blocks of three documents; remembers what it was asked."""

    documents_per_block = 3  # type: ignore[assignment]
    room = 150

    def __init__(self) -> None:
        super().__init__(models.llama(), tokenizer=models.tokenizer())
        self.asked: list[list[Any]] = []

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
        self.asked.append([asked.doc_id for asked in requests[:: len(CHOICES)]])
        return super().loglikelihood(requests, disable_tqdm)

    def _call(self, **inputs: Any) -> Any:
        if inputs["input_ids"].shape[1] > self.room:
            raise torch.OutOfMemoryError("out of memory")
        return super()._call(**inputs)


def test_blocks_are_as_large_as_packs_need(tmp_path: Path) -> None:
    for batch_size, size in (("1", 3), ("5", 5), ("auto", 3)):
        lm = Small()
        ask(lm, REQUESTS, tmp_path / batch_size, batch_size=batch_size)
        assert {len(block) for block in lm.asked[:-1]} == {size}


def test_a_run_that_went_on_gives_the_same_to_the_last_bit(tmp_path: Path) -> None:
    whole = Small()
    answers, _ = ask(whole, REQUESTS, tmp_path / "whole", batch_size="1")
    assert whole.halvings > 0
    for blocks in range(1, 4):
        stops = iter([False] * blocks + [True])
        path = tmp_path / f"after-{blocks}"
        with pytest.raises(StoppedError):
            ask(Small(), REQUESTS, path, batch_size="1", stopping=lambda stops=stops: next(stops))
        rest = Small()
        assert ask(rest, REQUESTS, path, batch_size="1")[0] == answers
        assert rest.asked == whole.asked[blocks:]
        assert rest.halvings == whole.halvings
    records = [json.loads(line) for line in (tmp_path / "whole").read_text(encoding="utf-8").splitlines()]
    assert {"halvings": whole.halvings} in records


def test_each_task_begins_with_full_packs(tmp_path: Path) -> None:
    """Or a task would depend on those before it."""
    lm = Small()
    ask(lm, REQUESTS, tmp_path / "first", batch_size="1")
    assert lm.halvings > 0
    lm.room = 100_000
    ask(lm, REQUESTS, tmp_path / "second", batch_size="1")
    assert lm.halvings == 0


def test_with_generation_left_to_batches(tmp_path: Path) -> None:
    lm = Small()
    blocks = []
    lm.generate_until = lambda requests, disable_tqdm=False: blocks.append(len(requests)) or [""] * len(requests)
    ask(lm, [request(number, "x", {"until": ["\n"]}) for number in range(6)], tmp_path / "a", kind="generate_until")
    assert blocks == [2, 2, 2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.save(models.gemma3(), tmp_path_factory.mktemp("models") / "gemma")


def run(model: str, folder: Path, output: Path, *more: str) -> dict[str, Any]:
    arguments = ["run", "--model", model, "--model_args", f"pretrained={folder},dtype=float32", "--device", "cpu"]
    arguments += ["--tasks", "itaeval_arc_challenge,itaeval_sentipolc,itapat_gender_6", "--limit", "4"]
    arguments += ["--metadata", '{"data_dir": "sample"}', "--output", str(output), "--gen_kwargs", "max_gen_toks=8"]
    assert main([*arguments, *more]) == 0
    (path,) = output.glob("*/results_*.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = run("hf-packed", folder, tmp_path / "packed", "--batch_size", "auto", "--max_batch_size", "2")
    plain = run("hf", folder, tmp_path / "plain")
    assert packed["config"]["model"] == "hf-packed"
    assert packed["config"]["packed"] is True
    assert packed["config"]["model_dtype"] == plain["config"]["model_dtype"]
    assert packed["model_name"] == plain["model_name"]
    for task, figures in plain["results"].items():
        for name, value in figures.items():
            if isinstance(value, float):
                assert packed["results"][task][name] == pytest.approx(value, nan_ok=True), (task, name)
    out = capsys.readouterr().out
    assert "3 tasks" in out
    # The same command again has nothing to do; another budget is the same run.
    run("hf-packed", folder, tmp_path / "packed", "--model_args", f"pretrained={folder},dtype=float32,token_budget=99")
    assert "3 done already" in capsys.readouterr().out


@pytest.mark.slow
def test_two_processes_give_the_figures_of_one(folder: Path, tmp_path: Path) -> None:
    one = run("hf-packed", folder, tmp_path / "one")
    arguments = ["run", "--model", "hf-packed", "--model_args", f"pretrained={folder},dtype=float32", "--limit", "4"]
    arguments += [
        "--tasks",
        "itaeval_arc_challenge,itaeval_sentipolc,itapat_gender_6",
        "--output",
        str(tmp_path / "two"),
    ]
    arguments += ["--metadata", '{"data_dir": "sample"}', "--gen_kwargs", "max_gen_toks=8"]
    launch = ("-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29537", "-m", "lm_eval_ita")
    done = subprocess.run(
        [sys.executable, *launch, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (path,) = (tmp_path / "two").glob("*/results_*.json")
    two = json.loads(path.read_text(encoding="utf-8"))
    assert two["lm_eval_ita"]["cost"]["itaeval_arc_challenge"]["processes"] == 2
    for task, figures in one["results"].items():
        for name, value in figures.items():
            if isinstance(value, float):
                assert two["results"][task][name] == pytest.approx(value, nan_ok=True), (task, name)
