"""Time from the command to the first request: `lm-eval-ita run` against plain `lm_eval run`, side by side.

    python benchmarks/bench_startup.py [--model FOLDER] [--runs N]

Both evaluate XCOPA's sample rows with the same model on the CPU, in turns, so that a busy machine slows both alike, and
end at their first forward pass. The goal: a ratio of medians of at most 0.45. The model is the demonstration's (Gemma 3
270M) unless one is named.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lm_eval_ita.harness.task_files import tasks_path
from lm_eval_ita.run.demo_model import demo_model

# Ends the process where the harness's model is called first, whoever imports it and whenever.
PROGRAM = """
import importlib.abc, importlib.machinery, os, sys

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "lm_eval.models.huggingface":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module
        def exec_module(module):
            run(module)
            module.HFLM._model_call = lambda *a, **k: os._exit(77)
        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Watch())
"""
OURS = PROGRAM + "from lm_eval_ita.cli.main import main; main()"
PLAIN = PROGRAM + "from lm_eval.__main__ import cli_evaluate; cli_evaluate()"
GOAL = 0.45


def seconds(program: str, arguments: list[str]) -> float:
    """One run, from the start of the process to its first forward pass."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    taken = time.perf_counter() - start
    assert done.returncode == 77, done.stderr[-2000:]
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    model = options.model or demo_model()
    common = ["run", "--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu"]
    common += ["--tasks", "itaeval_xcopa", "--metadata", '{"data_dir": "sample"}', "--batch_size", "1"]
    ours: list[float] = []
    plain: list[float] = []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as output:
            plain.append(seconds(PLAIN, [*common, "--include_path", str(tasks_path())]))
            ours.append(seconds(OURS, [*common, "--output", output]))
            print(f"lm_eval run {plain[-1]:.1f} s, lm-eval-ita run {ours[-1]:.1f} s", file=sys.stderr)
    ratio = statistics.median(ours) / statistics.median(plain)
    print(f"medians of {options.runs}: {statistics.median(ours):.1f} s against {statistics.median(plain):.1f} s")
    print(f"ratio {ratio:.2f} (goal: at most {GOAL})")
    print(json.dumps({"ours_seconds": ours, "lm_eval_seconds": plain, "ratio": ratio, "load": os.getloadavg()[0]}))


if __name__ == "__main__":
    main()
