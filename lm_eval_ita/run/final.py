"""The results file of a whole run, in the harness's layout, from the records of its tasks."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from lm_eval_ita._version import __version__
from lm_eval_ita.run.cost import add_costs
from lm_eval_ita.run.folder import RunFolder
from lm_eval_ita.run.selection import Selection
from lm_eval_ita.run.settings import Settings

__all__ = ["final_content", "model_facts", "task_content"]

_SHA = {"pretrained": "model"}  # the harness's names: model_sha, peft_sha, delta_sha


def task_content(results: Mapping[str, Any], task: str) -> dict[str, Any]:
    """What is kept of a finished task, from the harness's results of this task alone."""
    return {
        "metrics": results["results"][task],
        "config": _without_addresses(results["configs"][task]),
        "version": results["versions"][task],
        "n_shot": results["n-shot"][task],
        "higher_is_better": results["higher_is_better"][task],
        "n_samples": results["n-samples"][task],
    }


def _without_addresses(value: Any) -> Any:
    """The harness writes a nested function as "<function NAME at 0x...>": without the address, equal runs are equal."""
    if isinstance(value, Mapping):
        return {key: _without_addresses(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_addresses(part) for part in value]
    return f"<function {value.__qualname__}>" if isinstance(value, FunctionType) else value


def model_facts(lm: Any, settings: Settings) -> dict[str, Any]:
    """What the harness writes about a loaded model: kept with every task, for a run that ends without loading it."""
    from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker
    from lm_eval.loggers.utils import add_tokenizer_info

    tracker = GeneralConfigTracker()
    tracker.log_experiment_args(
        model_source=settings.model,
        model_args=dict(settings.model_args),
        system_instruction=settings.system_instruction,
        chat_template=lm.chat_template(settings.apply_chat_template) if settings.apply_chat_template else None,
        fewshot_as_multiturn=settings.fewshot_as_multiturn,
    )
    tokenizer: dict[str, Any] = {}
    add_tokenizer_info(tokenizer, lm)
    info = lm.get_model_info() if hasattr(lm, "get_model_info") else {}
    # The harness asks the Hub for the commit, which cannot be done without a network.
    info |= {f"{_SHA.get(name, name)}_sha": commit for name, commit in settings.prepared.commits.items()}
    return {"info": info, "tokenizer": tokenizer, "tracker": asdict(tracker)}


def final_content(
    settings: Settings, selection: Selection, records: Mapping[str, Mapping[str, Any]], folder: RunFolder
) -> dict[str, Any]:
    """Put the tasks of a run together.

    Args:
        settings: The run's.
        selection: Its tasks and groups.
        records: Task to record, of the tasks that are done.
        folder: The run's folder.

    Returns:
        The harness's layout, with `lm_eval_ita` (costs, failed tasks, the run's name) and `lm_eval_ita_version` added.
        The figures of a group that lacks a task are left out: a mean over a part is no mean.
    """
    from lm_eval.loggers.utils import add_env_info, get_commit_from_path

    done = {name: records[name] for name in selection.tasks if name in records}
    facts = next(iter(done.values()))["model"]
    wall = sum(record["cost"]["wall_seconds"] for record in done.values())
    content = {
        **_harness_results(done, selection),
        "config": {"model": settings.model, "model_args": dict(settings.model_args), **facts["info"]}
        | _execution(settings, done),
        "git_hash": get_commit_from_path(Path.cwd()),
        "date": folder.started,
    }
    add_env_info(content)
    hashes = {name: record["task_hash"] for name, record in done.items() if record.get("task_hash")}
    return {
        **content,
        **facts["tokenizer"],
        "task_hashes": hashes,
        **facts["tracker"],
        "total_evaluation_time_seconds": str(wall),
        "lm_eval_ita_version": __version__,
        "lm_eval_ita": {
            "run": folder.path.name,
            "failed": [name for name in selection.tasks if name not in done],
            "cost": {name: record["cost"] for name, record in done.items()},
            "total_cost": {"wall_seconds": wall, **add_costs([record["cost"] for record in done.values()])},
        },
    }


def _execution(settings: Settings, done: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    python, numpy, torch, fewshot = settings.seeds
    return {
        "batch_size": settings.batch_size,
        "batch_sizes": [size for record in done.values() for size in record["batch_sizes"]],
        "device": settings.device,
        "use_cache": None,
        "limit": settings.limit,
        "bootstrap_iters": 100000,
        "gen_kwargs": dict(settings.gen_kwargs),
        "random_seed": python,
        "numpy_seed": numpy,
        "torch_seed": torch,
        "fewshot_seed": fewshot,
    }


def _harness_results(done: Mapping[str, Mapping[str, Any]], selection: Selection) -> dict[str, Any]:
    """Let the harness add up its groups and lay out its results, as it does at the end of its own run."""
    from lm_eval.evaluator_utils import EvalAcc, aggregate_groups

    parts = EvalAcc(groups=_groups(selection, done))
    for name, record in done.items():
        parts.metrics[name] = dict(record["metrics"])
        parts.configs[name] = record["config"]
        parts.versions[name] = record["version"]
        parts.num_fewshot[name] = record["n_shot"]
        parts.higher_is_better[name] = record["higher_is_better"]
        parts.n_samples[name] = record["n_samples"]
    return dict(aggregate_groups(parts)._to_eval_results())


def _groups(selection: Selection, done: Mapping[str, Any]) -> dict[str, Any]:
    """The harness's groups, holding names where it would hold tasks with their data."""
    from lm_eval.api.group import Group
    from lm_eval.config.group import GroupConfig

    class NamedGroup(Group):  # type: ignore[misc]  # lm_eval is untyped
        def get_all_tasks(self, recursive: bool = True) -> list[Any]:
            return [leaf for child in self for leaf in (child.get_all_tasks() if isinstance(child, Group) else [child])]

    groups: dict[str, Any] = {}
    for name, config in selection.groups.items():
        group = NamedGroup.from_config(GroupConfig(**config))
        for member in config["task"]:
            group.add(groups[member] if member in groups else SimpleNamespace(task_name=member))
        if any(leaf.task_name not in done for leaf in group.get_all_tasks()):
            group.aggregate_metric_list = None
        groups[name] = group
    return groups
