"""What lm_eval 0.4.13 knows by name: its keys, metrics, aggregations, samplers, and the names of its tasks."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from lm_eval_ita.harness.task_files import tasks_path

__all__ = [
    "CARD_KEYS",
    "FILTER_KEYS",
    "GENERATION_KEYS",
    "METRIC_KEYS",
    "OUTPUT_TYPES",
    "STRUCTURAL_KEYS",
    "aggregate_keys",
    "aggregations",
    "built_in_metrics",
    "fewshot_keys",
    "group_keys",
    "installed_names",
    "own_names",
    "samplers",
    "task_keys",
    "yaml_names",
]

OUTPUT_TYPES = ("loglikelihood", "multiple_choice", "loglikelihood_rolling", "generate_until")
# Keys of a task's file that are no fields of its configuration: the harness takes them out.
STRUCTURAL_KEYS = frozenset({"include", "tag", "task_list", "class"})
METRIC_KEYS = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})
FILTER_KEYS = frozenset({"name", "filter"})
# Backends know more: these are the ones that a misspelt key is compared with.
GENERATION_KEYS = frozenset(
    {"until", "max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens", "do_sample", "temperature"}
    | {"top_p", "top_k", "min_p", "num_beams", "repetition_penalty", "seed"}
)
# Fields of a card that are not in `Card`: loaders read them.
CARD_KEYS = frozenset(
    {
        "suite",
        "category",
        "title",
        "splits",
        "label_column",
        "columns",
        "subset",
        "test",
        "oneshot",
        "lists",
        "description",
    }
)

# The metrics that the harness itself computes, where a task has no `process_results`.
_COMPUTED = {
    "loglikelihood": frozenset({"perplexity", "acc"}),
    "loglikelihood_rolling": frozenset({"word_perplexity", "byte_perplexity", "bits_per_byte"}),
    "multiple_choice": frozenset(
        {"acc", "f1", "mcc", "acc_norm", "acc_bytes", "exact_match", "brier_score", "likelihood", "acc_mutual_info"}
    ),
}
_NAME = re.compile(rb"^(task|group|tag):[ \t]*([^\s#\[{|>&*!][^\r\n]*?)[ \t]*(?:[ \t]#[^\r\n]*)?\r?$", re.MULTILINE)
_TAGS = re.compile(rb"^tag:[ \t]*\r?\n((?:[ \t]*-[ \t]*\S+[ \t]*\r?\n?)+)", re.MULTILINE)
_ITEM = re.compile(rb"-[ \t]*(\S+)")
_OURS = "ita"  # our task files' folder among the harness's own


@functools.cache
def task_keys() -> frozenset[str]:
    """The keys of a task."""
    from lm_eval.config.task import TaskConfig

    return frozenset(entry.name for entry in fields(TaskConfig))


@functools.cache
def fewshot_keys() -> frozenset[str]:
    """The keys of `fewshot_config`."""
    from lm_eval.config.task import FewshotConfig

    return frozenset(entry.name for entry in fields(FewshotConfig))


@functools.cache
def group_keys() -> frozenset[str]:
    """The keys of a group; keys of a task beside them change its members."""
    from lm_eval.config.group import GroupConfig

    return frozenset(entry.name for entry in fields(GroupConfig))


@functools.cache
def aggregate_keys() -> frozenset[str]:
    """The keys of an entry of `aggregate_metric_list`."""
    from lm_eval.config.group import AggMetricConfig

    return frozenset(entry.name for entry in fields(AggMetricConfig))


@functools.cache
def aggregations() -> frozenset[str]:
    """The aggregations that have a name."""
    import lm_eval.api.metrics  # noqa: F401  # fills the registry
    from lm_eval.api.registry import AGGREGATION_REGISTRY

    return frozenset(AGGREGATION_REGISTRY.keys())


def built_in_metrics(output_type: str) -> frozenset[str]:
    """The metrics that the harness computes itself for an output type."""
    if output_type in _COMPUTED:
        return _COMPUTED[output_type]
    import lm_eval.api.metrics  # noqa: F401  # fills the registry
    from lm_eval.api.registry import METRIC_REGISTRY

    return frozenset(METRIC_REGISTRY.keys())


@functools.cache
def samplers() -> frozenset[str]:
    """The samplers that have a name."""
    from lm_eval.api.samplers import SAMPLER_REGISTRY

    return frozenset(SAMPLER_REGISTRY)


@functools.cache
def installed_names() -> Mapping[str, tuple[str, Path]]:
    """Every task, group and tag that the installed harness brings, ours left out: name to (kind, file).

    The files' lines are searched and not read as YAML, which would take half a minute for 14,000 of them.
    """
    import lm_eval

    root = Path(lm_eval.__file__).parent / "tasks"
    return yaml_names(root, without=str(root / _OURS))


@functools.cache
def own_names() -> Mapping[str, tuple[str, Path]]:
    """The same of this package's task files."""
    return yaml_names(tasks_path())


def yaml_names(root: Path, without: str = "") -> dict[str, tuple[str, Path]]:
    """Names of tasks, groups and tags in the YAML files of a folder, one below it left out: name to (kind, file)."""
    found: dict[str, tuple[str, str]] = {}
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if os.path.join(folder, name) != without]  # noqa: PTH118
        for file in files:
            if not file.endswith(".yaml"):
                continue
            path = os.path.join(folder, file)  # noqa: PTH118  # a Path for each of 14,000 costs a third of the time
            with open(path, "rb") as handle:  # noqa: PTH123
                data = handle.read()
            tags = [(b"tag", item) for block in _TAGS.findall(data) for item in _ITEM.findall(block)]
            for kind, name in [*_NAME.findall(data), *tags]:
                clean = name.strip(b"\"'").decode("utf-8", "replace")
                found.setdefault(clean, (kind.decode(), path))
    return {name: (kind, Path(path)) for name, (kind, path) in found.items()}
