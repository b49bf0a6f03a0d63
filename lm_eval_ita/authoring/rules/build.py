"""The last word: the harness builds the task, its first prompt and its first requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lm_eval_ita.authoring.calling import attempt
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.rules.data import Loads
from lm_eval_ita.authoring.source import Source

__all__ = ["RULES", "check"]

HARNESS = Rule("harness", "lm_eval itself builds the task and its first prompt, examples included.")
RULES = (HARNESS,)


def check(source: Source, dataset: Any, loads: Loads) -> Iterator[Finding]:
    """A finding where the harness refuses what the other rules let pass.

    Args:
        source: The task.
        dataset: Its data, already loaded.
        loads: What `process_docs` made of them before.
    """
    outcome = attempt(_first_requests, source, dataset, loads)
    if outcome.error is not None:
        mend = "mend what it says; the other rules found nothing"
        yield source.finding(HARNESS, (), f"lm_eval cannot build the task ({outcome.reason})", mend)


def _first_requests(source: Source, dataset: Any, loads: Loads) -> None:
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    config = load_yaml(source.path)
    for key in ("tag", "group", "task_list", "dataset_path"):
        config.pop(key, None)
    for place in (config, config.get("fewshot_config") or {}):
        if callable(place.get("process_docs")):
            place["process_docs"] = partial(_processed, place["process_docs"], loads)
    task = ConfigurableTask(config={**config, "custom_dataset": lambda **_: dataset})
    task.set_fewshot_seed(1234)
    document = task.eval_docs[0]
    context = task.fewshot_context(document, task.config.num_fewshot or 0, gen_prefix=task.doc_to_prefix(document))
    task.construct_requests(document, context, metadata=(source.name, 0, 1))


def _processed(function: Callable[[Any], Any], loads: Loads, rows: Any) -> Any:
    outcome = loads.process(function, rows)
    if outcome.error is not None:
        raise outcome.error
    return outcome.value
