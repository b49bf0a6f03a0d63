"""hf-packed on a GPU in one go, within ten minutes: is it right, is it fast, does it run ItaEval.

    LM_EVAL_ITA_DATA=DIR python benchmarks/gpu_check.py [--documents N] [--skip STEP ...]

1. `right`: FlexAttention, compiled, against the harness's `hf` on Gemma 3 270M (sliding windows) in float32: every
   log-probability within 1e-3, all choices and is_greedy flags equal.
2. `fast`: `bench_choices.py` with eight billion random weights in bfloat16: documents a second, share of the GPU's own
   arithmetic, peak memory, both ways. To reach on an H200: 80, 93, 460 and 82 documents a second.
3. `run`: `lm-eval-ita run --model hf-packed` on the multiple-choice tasks of ItaEval with Gemma 3 270M, in full.

Each step says what it found as soon as it has; the last line is JSON. Exit code 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from _bench import machine
from bench_choices import TASKS, load, measure, peak_operations, quiet, row

from lm_eval_ita.harness.task_files import read_task_files
from lm_eval_ita.run.demo_model import demo_model

GOALS = dict(zip(TASKS, (80.0, 93.0, 460.0, 82.0), strict=True))


def options(**changes: Any) -> argparse.Namespace:
    """As `bench_choices.py` takes them."""
    plain = {
        "model": None,
        "random": None,
        "batch_size": [16],
        "token_budget": None,
        "device": "cuda",
        "dtype": "float32",
    }
    return argparse.Namespace(**{**plain, **changes})


def right(documents: int) -> dict[str, Any]:
    packed, hf = load(options())
    found = [measure(name, packed, hf, documents, [16]) for name in TASKS]
    good = packed.not_packed is None and packed._flex
    for each in found:
        print(json.dumps(each), flush=True)
        good = good and each["largest_difference"] < 1e-3 and each["choices_equal"] and each["is_greedy_equal"]
    return {"good": bool(good), "flex": packed._flex, "not_packed": packed.not_packed, "tasks": found}


def fast(documents: int) -> dict[str, Any]:
    packed, hf = load(options(random="8b", batch_size=[16, 32]))
    most = peak_operations(hf.device, hf.model.dtype)
    print(f"peak {most / 1e12:.0f} TFLOP/s", flush=True)
    found = []
    for name in TASKS:
        found.append(measure(name, packed, hf, documents, [16, 32]))
        print(row(found[-1], most, goals=False), flush=True)
    reached = {each["task"]: each["packed_documents_per_second"] >= GOALS[each["task"]] for each in found}
    lean = all(each["packed_peak_bytes"] <= each["hf_peak_bytes"] for each in found)
    good = packed.not_packed is None and packed._flex and all(reached.values()) and lean
    return {"good": good, "reached": reached, "peak_operations": most, "halvings": packed.halvings, "tasks": found}


def run(_: int) -> dict[str, Any]:
    tasks = multiple_choice()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "lm_eval_ita", "run", "--model", "hf-packed", "--device", "cuda:0"]
        command += ["--model_args", f"pretrained={demo_model()},dtype=bfloat16", "--tasks", ",".join(tasks)]
        done = subprocess.run([*command, "--output", folder], check=False)
        results = list(Path(folder).glob("*/results_*.json"))
        content = json.loads(results[0].read_text(encoding="utf-8")) if results else {}
        scores = {name: figures.get("score,none") for name, figures in content.get("results", {}).items()}
        packed = content.get("config", {}).get("packed")
    return {"good": done.returncode == 0 and packed is True, "packed": packed, "scores": scores}


def multiple_choice() -> list[str]:
    """The multiple-choice tasks of ItaEval whose data is there."""
    data = Path(os.environ.get("LM_EVAL_ITA_DATA", ""))
    return [
        file.name
        for file in read_task_files()
        if file.card is not None
        and file.card.suite == "itaeval"
        and file.config.get("output_type") == "multiple_choice"
        and (data / str(file.card.dataset)).is_dir()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=256, help="of each task; default: %(default)s")
    parser.add_argument("--skip", nargs="+", default=[], choices=["right", "fast", "run"])
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no GPU here that torch can use")
    quiet()
    found: dict[str, Any] = {"machine": machine()}
    print(found["machine"], flush=True)
    for step in (right, fast, run):
        if step.__name__ in chosen.skip:
            continue
        start = time.perf_counter()
        print(f"== {step.__name__}", flush=True)
        found[step.__name__] = {**step(min(chosen.documents, 64) if step is right else chosen.documents)}
        found[step.__name__]["seconds"] = round(time.perf_counter() - start, 1)
        print(f"{step.__name__}: {'good' if found[step.__name__]['good'] else 'NOT GOOD'}", flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    print(json.dumps(found))
    sys.exit(not all(part["good"] for name, part in found.items() if name != "machine"))


if __name__ == "__main__":
    main()
