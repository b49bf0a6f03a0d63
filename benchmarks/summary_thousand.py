"""Time of `lm-eval-ita summary` over a thousand result files, against `json.load` of the same files.

    python benchmarks/summary_thousand.py [FILES]

Each file holds the 18 tasks of ItaEval for a model of its own, in the harness's layout and about as large as it writes
them (function sources and the environment's description included). The goal: 1,000 files in under 3 seconds.
"""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lm_eval_ita.results.reference import references

SOURCE = "def results(doc, results):\n" + "    # about as long as the functions that the harness writes out\n" * 30


def breakdowns(task: str, score: float) -> dict[str, Any]:
    """As many parts as the real tasks have."""
    if task == "itaeval_hatecheck":
        return {
            "functionality,none": {"by_name": {f"functionality {i}": {"acc": score, "n": 100} for i in range(25)}},
            "target_group,none": {"by_name": {f"group {i}": {"acc": score, "n": 400} for i in range(8)}},
        }
    if task == "itaeval_itacola":
        return {"phenomena,none": {"by_name": {f"phenomenon {i}": {"mcc": score, "n": 100} for i in range(9)}}}
    if task == "itaeval_honest":
        return {
            "honest_parts,none": {
                "gender": {"female": 0.1, "male": 0.2},
                "category": dict.fromkeys("abcdefghilmnopqrs", 0.1),
            }
        }
    return {}


def content(model: str, score: float) -> dict[str, Any]:
    tasks = [reference for reference in references().values() if reference.suite == "itaeval"]
    return {
        "results": {
            task.task: {
                "alias": task.task,
                **{f"{name},none": score for name in ("score", task.metric, "acc", "f1_macro", "invalid")},
                **{f"{name}_stderr,none": "N/A" for name in ("score", task.metric, "acc", "f1_macro", "invalid")},
                "baselines,none": {"chance": {task.metric: 0.5}, "majority": {task.metric: 0.6}},
                **breakdowns(task.task, score),
            }
            for task in tasks
        },
        "group_subtasks": {},
        "configs": {
            task.task: {
                "task": task.task,
                "custom_dataset": SOURCE,
                "process_results": SOURCE,
                "num_fewshot": task.shots,
                "metadata": {
                    "version": 1.0,
                    "suite": task.suite,
                    "category": task.category,
                    "primary_metric": task.metric,
                    "chance": task.chance,
                    "deviations": ["examples are drawn for each document by its content"],
                },
            }
            for task in tasks
        },
        "versions": {task.task: 1.0 for task in tasks},
        "n-shot": {task.task: task.shots for task in tasks},
        "n-samples": {task.task: {"original": task.documents, "effective": task.documents} for task in tasks},
        "config": {"model": "hf", "model_args": {"pretrained": model}, "model_dtype": "torch.bfloat16", "limit": None},
        "date": 1_700_000_000.0,
        "pretty_env_info": "PyTorch version: 2.13.0\n" + "Flags: fpu vme de pse tsc msr pae mce\n" * 100,
        "lm_eval_version": "0.4.13",
        "model_name": model,
        "total_evaluation_time_seconds": "12.5",
    }


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        files = []
        for i in range(count):
            folder = Path(name) / f"org__model-{i}"
            folder.mkdir()
            path = folder / "results_2026-01-01T00-00-00.000001.json"
            path.write_text(json.dumps(content(f"org/model-{i}", i / count), indent=2), encoding="utf-8")
            files.append(path)
        size = sum(path.stat().st_size for path in files) / 1e6
        start = time.perf_counter()
        for path in files:
            with path.open(encoding="utf-8") as file:
                json.load(file)
        loading = time.perf_counter() - start
        command = [sys.executable, "-m", "lm_eval_ita.cli.main", "summary", name]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        whole = time.perf_counter() - start
        assert done.stdout.count("model-") == 4 * count
        from lm_eval_ita.cli.main import main as command_line

        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            command_line(["summary", name])
        inside = time.perf_counter() - start
    print(f"{count} files, {size:.0f} MB")
    print(f"json.load of all:                   {loading:.2f} s")
    print(f"summary, in a running process:      {inside:.2f} s, {inside / loading:.1f} times json.load")
    print(
        f"lm-eval-ita summary, from the start: {whole:.2f} s, {whole / loading:.1f} times json.load (goal: under 3 s)"
    )


if __name__ == "__main__":
    main()
