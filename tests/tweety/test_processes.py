"""Training in two processes, as accelerate starts them on a cluster: the model of one process, to rounding."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("accelerate", reason="needs accelerate: pip install accelerate")

import torch
import yaml
from transformers import AutoModelForCausalLM

from tests.tweety.models import ITALIAN, tiny_model, word_tokenizer

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("sharded", [False, True], ids=["ddp", "fsdp"])
def test_two_processes_make_the_model_of_one(tmp_path: Path, sharded: bool) -> None:
    tiny_model(tmp_path / "model", word_tokenizer(["casa", "rossa", "amico", "pane"]))
    (tmp_path / "it").write_text("".join(f"{ITALIAN} {n}\n" for n in range(20)), encoding="utf-8")
    # The configuration of the documentation, on CPUs.
    page = (ROOT / "docs" / "tweety.md").read_text(encoding="utf-8")
    config = yaml.safe_load(page.split("```yaml")[1].split("```")[0])
    config |= {"use_cpu": True, "mixed_precision": "no", "num_machines": 1, "num_processes": 2, "main_process_ip": None}
    if not sharded:
        config = {**config, "distributed_type": "MULTI_CPU", "fsdp_config": {}}
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    adapt = ["-m", "lm_eval_ita", "tweety", "adapt", "--model", "model", "--corpus", "it", "--held-out", "it"]
    adapt += ["--tokens", "192", "--length", "16", "--batch", "2", "--rate", "0.01", "--keep-contaminated"]
    launch = ["-m", "accelerate.commands.launch", "--config_file", "two.yaml"]
    for start, out in (([], "one"), (launch, "two")):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
        done = subprocess.run(
            [sys.executable, *start, *adapt, "--out", out],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
    first, second = (
        AutoModelForCausalLM.from_pretrained(tmp_path / out / "model").state_dict() for out in ("one", "two")
    )
    assert first.keys() == second.keys()
    for name, weight in first.items():
        torch.testing.assert_close(second[name], weight, rtol=1e-3, atol=1e-4)
    assert (tmp_path / "two" / "bits.jsonl").read_text(encoding="utf-8").count("\n") == 2
