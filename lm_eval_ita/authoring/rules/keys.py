"""Keys that the harness knows, with values of the right kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import NEARLY, did_you_mean, nearest
from lm_eval_ita.authoring.source import KeyPath, Source
from lm_eval_ita.harness.task_files import Card

__all__ = ["RULES", "WRONG_TYPE", "check"]

UNKNOWN_KEY = Rule("unknown-key", "Every key is one that the harness (or our loader) reads; the nearest one is named.")
WRONG_TYPE = Rule(
    "wrong-type", "Every value is of the kind that its key takes; functions are written with `!function`."
)
OUTPUT_TYPE = Rule("output-type", f"`output_type` is one of {', '.join(facts.OUTPUT_TYPES)}.")
RULES = (UNKNOWN_KEY, WRONG_TYPE, OUTPUT_TYPE)

_TEXTS = frozenset(
    {"task_alias", "dataset_path", "dataset_name", "training_split", "validation_split", "test_split", "fewshot_split"}
    | {"use_prompt", "description", "target_delimiter", "fewshot_delimiter", "output_type", "gen_prefix", "group_alias"}
)
_NUMBERS = frozenset({"num_fewshot", "repeats"})
_MAPPINGS = frozenset({"dataset_kwargs", "fewshot_config", "generation_kwargs", "metadata"})
_LISTS = frozenset({"metric_list", "filter_list"})
_FLAGS = frozenset({"should_decontaminate", "unsafe_code"})
_FUNCTIONS = frozenset({"custom_dataset", "process_docs", "process_results"})


def check(source: Source) -> Iterator[Finding]:
    """Findings about the keys of a task or group."""
    known = facts.task_keys() | facts.STRUCTURAL_KEYS
    if source.kind == "group":
        known |= facts.group_keys()
    yield from _unknown(source, (), known)
    yield from _types(source)
    yield from _nested(source)
    output = source.config.get("output_type", "generate_until")
    if isinstance(output, str) and output not in facts.OUTPUT_TYPES:
        mend = did_you_mean(output, facts.OUTPUT_TYPES, f"write one of {', '.join(facts.OUTPUT_TYPES)}")
        yield source.finding(OUTPUT_TYPE, ("output_type",), f"there is no output type {output!r}", mend)


def _nested(source: Source) -> Iterator[Finding]:
    yield from _unknown(source, ("fewshot_config",), facts.fewshot_keys())
    yield from _unknown(source, ("generation_kwargs",), facts.GENERATION_KEYS, cutoff=NEARLY)
    yield from _unknown(source, ("metadata",), facts.CARD_KEYS | Card.model_fields.keys(), cutoff=NEARLY)
    yield from _unknown(source, ("metadata", "splits"), frozenset({"eval", "shots"}))
    for where, entry in source.entries("metric_list"):
        if "metric" not in entry:
            yield source.finding(WRONG_TYPE, where, "a metric without a name", "write `metric: NAME` first")
        yield from _unknown(source, where, facts.METRIC_KEYS, cutoff=NEARLY)
    for where, _ in source.entries("aggregate_metric_list"):
        yield from _unknown(source, where, facts.aggregate_keys())
    for where, _ in source.entries("filter_list"):
        yield from _unknown(source, where, facts.FILTER_KEYS)


def _unknown(source: Source, where: KeyPath, known: frozenset[str], cutoff: float = 0.0) -> Iterator[Finding]:
    """Keys of a mapping that are not known; with a cutoff, only those that are nearly one that is not there.

    A strange key of some mappings may be meant for a backend or a loader.
    """
    value = source.value(where)
    if not isinstance(value, dict):
        return
    inside = f" in {'.'.join(map(str, where))}" if where else ""
    for key in value:
        name = str(key)
        if name in known or source.function(*where):
            continue
        if cutoff:
            near = nearest(name, known - {str(other) for other in value}, cutoff)
            if near is None:
                continue
            mend = f"did you mean {near}?"
        else:
            mend = did_you_mean(name, known, f"leave it out, or put it under `metadata`; known are {_listed(known)}")
        yield source.finding(UNKNOWN_KEY, (*where, name), f"there is no key {name!r}{inside}", mend)


def _listed(names: frozenset[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:8]) + (" ..." if len(ordered) > 8 else "")


def _types(source: Source) -> Iterator[Finding]:
    tests: list[tuple[frozenset[str], str, Callable[[Any], bool]]] = [
        (_TEXTS, "text", lambda value: isinstance(value, str)),
        (_NUMBERS, "a whole number from 0", lambda value: type(value) is int and value >= 0),
        (_MAPPINGS, "a mapping", lambda value: isinstance(value, dict)),
        (_LISTS, "a list of mappings", _is_list_of_mappings),
        (_FLAGS, "true or false", lambda value: isinstance(value, bool)),
    ]
    for key, value in source.config.items():
        if value is None or source.function(key):
            continue
        for keys, kind, holds in tests:
            if key in keys and not holds(value):
                yield source.finding(WRONG_TYPE, (key,), f"{key} is {value!r:.60}", f"it must be {kind}")
        if key in _FUNCTIONS:
            yield source.finding(
                WRONG_TYPE, (key,), f"{key} is {value!r:.60}", "it must be a function: put !function before it"
            )
    aggregated = source.config.get("aggregate_metric_list")
    if aggregated is not None and not isinstance(aggregated, dict) and not _is_list_of_mappings(aggregated):
        what = f"aggregate_metric_list is {aggregated!r:.60}"
        yield source.finding(WRONG_TYPE, ("aggregate_metric_list",), what, "it must be a list of mappings")


def _is_list_of_mappings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
