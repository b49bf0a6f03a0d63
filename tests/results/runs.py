"""Runs of the real harness with a scripted model, saved as the harness saves them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.loggers import EvaluationTracker

from lm_eval_ita.harness.rows import shot_key
from tests.harness.scripted import Scripted, evaluate, oracle


def save(
    folder: Path, answer: Callable[[Instance], Any], tasks: list[str], name: str = "org/model", **options: Any
) -> Path:
    """Evaluate on sample rows; returns the results file."""
    tracker = EvaluationTracker(output_path=str(folder))
    metadata = {"data_dir": "sample", **options.pop("metadata", {})}
    results = evaluate(
        Scripted(answer),
        tasks,
        metadata,
        model_args={"pretrained": name},
        evaluation_tracker=tracker,
        log_samples=True,
        **options,
    )
    samples = results.pop("samples")
    tracker.general_config_tracker.model_source = "scripted"
    tracker.save_results_aggregated(results=results, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    (path,) = folder.glob(f"*/results_{tracker.date_id}.json")
    return path


def sometimes_right(request: Instance) -> Any:
    """Right for most documents, by their number; for ItaP-AT one attribute or the other, at times neither."""
    doc = request.doc
    if "attribute_1" in doc:
        attributes = (doc["attribute_1"], doc["attribute_2"])
        stereotype = attributes[doc["side"] == "Y"]
        return [stereotype, *attributes, stereotype, "non so", "blah"][int(shot_key(doc["prompt"]), 16) % 6]
    if request.doc_id % 3 == 0:
        return -1.5 * (request.idx + 1) if request.request_type == "loglikelihood" else "scemo"
    return oracle(request)
