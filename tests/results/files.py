"""Result files for tests, in the harness's layout."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def task(score: Any = 0.5, metric: str = "acc", n: int = 500, **changes: Any) -> dict[str, Any]:
    """A task of ours as `results_file` wants it; `changes` go into its card, or over `figures`, `config`, `sizes`."""
    figures = {
        "name": "t",
        "alias": "t",
        "sample_len": n,
        f"{metric},none": score,
        f"{metric}_stderr,none": "N/A",
        "score,none": score,
        "score_stderr,none": 0.01,
        **changes.pop("figures", {}),
    }
    sizes = {"original": n, "effective": n, **changes.pop("sizes", {})}
    config = {"num_fewshot": 0, **changes.pop("config", {})}
    card = {
        "version": 1.0,
        "suite": "itaeval",
        "category": "cfk",
        "dataset": "xcopa",
        "origin": "native",
        "primary_metric": metric,
        "chance": 0.5,
        "range": [0, 1],
        "paper": "p",
        "deviations": [],
        **changes,
    }
    return {"figures": figures, "sizes": sizes, "config": {**config, "metadata": card}, "version": card["version"]}


def old_task(**figures: Any) -> dict[str, Any]:
    """A task that is not ours."""
    return {"figures": {"alias": "t", **figures}, "sizes": {}, "config": {"num_fewshot": 5, "metadata": {"version": 0}}}


def content(tasks: Mapping[str, Mapping[str, Any]], model: str = "org/model", **changes: Any) -> dict[str, Any]:
    """The content of a results file."""
    config = {
        "model": "hf",
        "model_args": {"pretrained": model, "dtype": "float32"},
        "model_dtype": "torch.float32",
        "model_revision": "main",
        "model_sha": "",
        "batch_size": "32",
        "device": "cpu",
        "limit": None,
        "fewshot_seed": 1234,
        **changes.pop("config", {}),
    }
    return {
        "results": {name: dict(entry["figures"]) for name, entry in tasks.items()},
        "group_subtasks": {},
        "configs": {name: entry["config"] for name, entry in tasks.items()},
        "versions": {name: entry.get("version", 0) for name, entry in tasks.items()},
        "n-shot": {name: entry["config"]["num_fewshot"] for name, entry in tasks.items()},
        "n-samples": {name: entry["sizes"] for name, entry in tasks.items()},
        "config": config,
        "date": 1_700_000_000.5,
        "pretty_env_info": "PyTorch version: 2.13.0\nPython version: 3.11.7 (main)\nOS: Debian\n"
        "GPU models and configuration: GPU 0: NVIDIA A100\nGPU 1: NVIDIA A100\nModel name:   AMD EPYC\n",
        "transformers_version": "5.0",
        "lm_eval_version": "0.4.13",
        "model_source": "hf",
        "model_name": model,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": "12.5",
        **changes,
    }


def write(folder: Path, data: Any, name: str = "results_2026-01-01T00-00-00.000001.json") -> Path:
    """Write a results file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path
