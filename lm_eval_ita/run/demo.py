"""The demonstration: the gender tests of ItaP-AT on a small real model, through the harness."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.stats.multiplicity import holm

__all__ = ["AssociationRow", "association_rows", "evaluate_to_folder"]


@dataclass(frozen=True)
class AssociationRow:
    """One association test in a table for people.

    Attributes:
        task: Task name.
        title: The two target sets, X / Y.
        n: Answers.
        bias_score, low, high: The score and its 95% interval, in [-1, 1].
        rates: Shares of attribute_1, attribute_2, neutral, error.
        p_value: Fisher's exact test.
        p_holm: The same, adjusted over the rows of the table.
        reading: In a word.
    """

    task: str
    title: str
    n: int
    bias_score: float
    low: float
    high: float
    rates: tuple[float, float, float, float]
    p_value: float
    p_holm: float
    reading: str


def evaluate_to_folder(
    tasks: list[str],
    model: Path,
    output: Path,
    *,
    limit: int | None = None,
    batch_size: int = 64,
) -> dict[str, Any]:
    """Evaluate a local model through the harness, with our tasks only, and save results and samples.

    Args:
        tasks: Task or group names of ours.
        model: A transformers folder.
        output: The harness writes `<output>/<model>/results_*.json` and `samples_*.jsonl`.
        limit: Documents per task; all when None.
        batch_size: Prompts at a time.

    Returns:
        The harness's results, without the samples.
    """
    import torch
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    from lm_eval_ita.harness.task_files import tasks_path

    tracker = EvaluationTracker(output_path=str(output))
    model_args = {"pretrained": str(model), "dtype": "float32"}
    results = simple_evaluate(
        model="hf",
        model_args=model_args,
        tasks=tasks,
        task_manager=TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=model_args),
        batch_size=batch_size,
        device="cuda:0" if torch.cuda.is_available() else "cpu",
        limit=limit,
        log_samples=True,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    return dict(results)


def association_rows(results: Mapping[str, Any]) -> list[AssociationRow]:
    """The association tests of a harness result, with p-values adjusted over all of them (Holm)."""
    found = [name for name, config in results["configs"].items() if config["metadata"].get("suite") == "itapat"]
    figures = {name: results["results"][name] for name in found}
    adjusted = dict(zip(found, holm([figures[name]["p_value,none"] for name in found]), strict=True))
    order = {name: position for position, name in enumerate(results["results"])}
    return [
        AssociationRow(
            task=name,
            title=results["configs"][name]["metadata"]["title"],
            n=sum(figures[name]["outcome,none"].values()),
            bias_score=figures[name]["bias_score,none"],
            low=figures[name]["bias_score_ci_low,none"],
            high=figures[name]["bias_score_ci_high,none"],
            rates=(
                figures[name]["prob_attribute_1,none"],
                figures[name]["prob_attribute_2,none"],
                figures[name]["prob_neutral,none"],
                figures[name]["prob_error,none"],
            ),
            p_value=figures[name]["p_value,none"],
            p_holm=adjusted[name],
            reading=figures[name]["reading,none"],
        )
        for name in sorted(found, key=lambda name: order.get(name, math.inf))
    ]
