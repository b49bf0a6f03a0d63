"""Runs for reports: results files with samples, made by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.results.reference import references
from tests.results.files import content, task, write

REFERENCES = references()
STAMP = "2026-01-01T00-00-00.000001"


def save(folder: Path, model: str, scores: Mapping[str, tuple[float, Sequence[Any]]], **changes: Any) -> Path:
    """A whole run of some tasks: task to its score and to the scores by document."""
    tasks = {}
    for name, (score, values) in scores.items():
        reference = REFERENCES[name]
        card = {"suite": reference.suite, "category": reference.category, **changes}
        n = reference.documents or 10_000
        sizes = {"original": n, "effective": n}
        tasks[name] = task(
            score, metric=reference.metric, n=n, config={"num_fewshot": reference.shots}, sizes=sizes, **card
        )
        del tasks[name]["figures"]["score_stderr,none"]
        if values:
            lines = [json.dumps(sample(i, value)) for i, value in enumerate(values)]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"samples_{name}_{STAMP}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return write(folder, content(tasks, model))


def sample(i: int, value: Any, **changes: Any) -> dict[str, Any]:
    """One line of a file of samples."""
    return {
        "doc_id": i,
        "doc": {"text": f"Testo {i}."},
        "doc_hash": f"h{i}",
        "target": "0",
        "arguments": {
            "gen_args_0": {"arg_0": f"Domanda {i}:", "arg_1": " sì"},
            "gen_args_1": {"arg_0": f"Domanda {i}:", "arg_1": " no"},
        },
        "resps": [[["-1.5", "True"]], [["-2.5", "False"]]],
        "filtered_resps": [["-1.5", "True"], ["-2.5", "False"]],
        "score": value,
        **changes,
    }
