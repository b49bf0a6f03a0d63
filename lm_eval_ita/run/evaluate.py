"""One evaluation of a local model through the harness, with our tasks only, saved in the harness's own files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["evaluate_to_folder"]


def evaluate_to_folder(
    tasks: list[str],
    model: Path,
    output: Path,
    *,
    limit: int | None = None,
    batch_size: int = 64,
    metadata: Mapping[str, Any] | None = None,
) -> Path:
    """Evaluate a local model and save results and samples.

    Args:
        tasks: Task or group names of ours.
        model: A transformers folder.
        output: The harness writes `<output>/<model>/results_*.json` and `samples_*.jsonl`.
        limit: Documents per task; all when None.
        batch_size: Prompts at a time.
        metadata: As the harness's `--metadata`.

    Returns:
        The results file, which `results.read_run` reads.
    """
    import torch
    from lm_eval import evaluator
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    from lm_eval_ita.harness.task_files import tasks_path

    # lm_eval asks git for the commit of the folder it runs in; outside a checkout, git complains on the screen.
    evaluator.get_git_commit_hash = lambda: None
    tracker = EvaluationTracker(output_path=str(output))
    model_args = {"pretrained": str(model), "dtype": "float32"}
    results = evaluator.simple_evaluate(
        model="hf",
        model_args=model_args,
        tasks=tasks,
        task_manager=TaskManager(
            include_path=str(tasks_path()), include_defaults=False, metadata={**model_args, **(metadata or {})}
        ),
        batch_size=batch_size,
        device="cuda:0" if torch.cuda.is_available() else "cpu",
        limit=limit,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    (saved,) = output.rglob(f"results_{tracker.date_id}.json")
    return saved
