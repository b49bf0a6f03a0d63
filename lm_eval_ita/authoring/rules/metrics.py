"""Metrics: called on two rows, declared, and added up without failing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.calling import attempt
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import NEARLY, did_you_mean, nearest
from lm_eval_ita.authoring.rendering import Renderer
from lm_eval_ita.authoring.rules.data import Table
from lm_eval_ita.authoring.rules.functions import Functions
from lm_eval_ita.authoring.source import KeyPath, Source

__all__ = ["RULES", "check", "check_rows"]

METRIC = Rule("metric", "Every metric exists, or `process_results` computes it; it does not fail on a row.")
UNDECLARED = Rule("undeclared-metric", "Every key that `process_results` returns is in `metric_list`.")
UNRETURNED = Rule("unreturned-metric", "Every metric in `metric_list` is computed.")
AGGREGATION = Rule(
    "aggregation", "Every aggregation exists and gives a value for no rows (missing is NaN), one and two."
)
HIGHER_IS_BETTER = Rule(
    "higher-is-better", "Every metric says whether higher is better (`null` for neither).", level="warning"
)
IGNORED_OPTION = Rule("ignored-option", "No option of a metric is ignored, as `average: macro` of the built-in f1 is.")
FILTER = Rule(
    "filter",
    "No filter has a name of its own: group means look for the filter `none`.",
    level="warning",
    acceptable=True,
)
LIST_TARGET = Rule(
    "list-target",
    "Several gold answers come with a `process_results`: the harness turns any other metric into 0 or 1.",
    level="warning",
)
RULES = (METRIC, UNDECLARED, UNRETURNED, AGGREGATION, HIGHER_IS_BETTER, IGNORED_OPTION, FILTER, LIST_TARGET)

# The harness's defaults where a task has no metric_list.
_OF_SEVERAL = frozenset({"exact_match"})


def check(source: Source) -> Iterator[Finding]:
    """Findings about `metric_list` as it is written."""
    output = str(source.config.get("output_type", "generate_until"))
    own = source.function("process_results")
    if own and source.config.get("metric_list") is None:
        mend = "list what process_results returns under metric_list"
        yield source.finding(
            UNDECLARED, ("process_results",), "process_results computes metrics that are nowhere declared", mend
        )
    seen: set[str] = set()
    for where, entry in source.entries("metric_list"):
        name = entry.get("metric")
        if not isinstance(name, str) or source.function(*where, "metric"):
            continue
        if name in seen:
            yield source.finding(METRIC, where, f"the metric {name} is declared twice", "keep one")
        seen.add(name)
        if not own:
            yield from _built_in(source, where, name, entry, output)
        yield from _entry(source, where, name, entry, ignored=own or output != "generate_until" or name == "f1")
    for where, entry in source.entries("filter_list"):
        if entry.get("name") not in (None, "none"):
            mend = "name it none, or read the answer in process_results"
            yield source.finding(
                FILTER, where, f"the metrics stand under the filter {entry['name']!r}, where no group looks", mend
            )


def _built_in(source: Source, where: KeyPath, name: str, entry: Mapping[str, Any], output: str) -> Iterator[Finding]:
    if output not in facts.OUTPUT_TYPES or entry.get("hf_evaluate"):
        return
    known = facts.built_in_metrics(output)
    if name not in known:
        mend = did_you_mean(name, known, "compute it in process_results")
        rule = UNRETURNED if name in facts.built_in_metrics("generate_until") else METRIC
        yield source.finding(rule, (*where, "metric"), f"the harness computes no {name} for {output}", mend)


def _entry(source: Source, where: KeyPath, name: str, entry: Mapping[str, Any], *, ignored: bool) -> Iterator[Finding]:
    aggregation = entry.get("aggregation")
    if (
        isinstance(aggregation, str)
        and not source.function(*where, "aggregation")
        and aggregation not in facts.aggregations()
    ):
        mend = did_you_mean(aggregation, facts.aggregations(), "write mean, or a !function")
        yield source.finding(AGGREGATION, (*where, "aggregation"), f"there is no aggregation {aggregation!r}", mend)
    if aggregation is None and name not in facts.built_in_metrics("generate_until"):
        yield source.finding(
            AGGREGATION, where, f"the metric {name} has no aggregation", "write aggregation: mean, or a !function"
        )
    misspelt = {
        option: nearest(option, facts.METRIC_KEYS - entry.keys(), NEARLY) for option in entry.keys() - facts.METRIC_KEYS
    }
    if "higher_is_better" not in entry and "higher_is_better" not in misspelt.values():
        yield source.finding(
            HIGHER_IS_BETTER,
            where,
            f"nothing says whether a higher {name} is better",
            "write higher_is_better: true, false or null",
        )
    if ignored:
        for option in sorted(option for option, meant in misspelt.items() if meant is None):
            mend = "take it out, and compute what you mean in process_results"
            yield source.finding(
                IGNORED_OPTION,
                (*where, option),
                f"the harness ignores {option}: {entry[option]} of the metric {name}",
                mend,
            )


def check_rows(source: Source, functions: Functions, tables: Sequence[Table]) -> Iterator[Finding]:
    """Findings from calling `process_results` on two rows, and the aggregations on what it returns."""
    evaluated = [table for table in tables if table.role == "evaluated"]
    if not evaluated:
        return
    table = evaluated[0]
    renderer = Renderer(source, functions, table.columns)
    if ("process_results",) not in functions:
        yield from _several_targets(source, renderer, table)
        return
    returned: list[Mapping[str, Any]] = []
    for position in range(min(2, len(table.rows))):
        answer = _answer(source, renderer, table.rows[position], right=position == 0)
        if answer is None:
            return  # the rules for prompts or choices say why
        outcome = attempt(functions["process_results",], table.rows[position], answer)
        if outcome.error is not None:
            what = f"process_results fails on {table.row(position)} ({outcome.reason})"
            yield source.finding(METRIC, ("process_results",), what, "correct it, or the columns that it reads")
            return
        if not isinstance(outcome.value, dict):
            what = f"process_results returns {type(outcome.value).__name__}"
            yield source.finding(METRIC, ("process_results",), what, "it must return a dict, metric to value")
            return
        returned.append(outcome.value)
    yield from _declared(source, returned)
    yield from _aggregated(source, functions, returned)


def _answer(source: Source, renderer: Renderer, row: Mapping[str, Any], *, right: bool) -> list[Any] | None:
    """What a model might answer, in the shape in which `process_results` gets it."""
    output = source.config.get("output_type", "generate_until")
    if output == "multiple_choice":
        choices = attempt(renderer.choices, row).value
        return [(-1.0 - number, number == 0) for number in range(len(choices))] if isinstance(choices, list) else None
    if output == "loglikelihood":
        return [(-1.0, True)]
    if output == "loglikelihood_rolling":
        return [-1.0]
    target = attempt(renderer.target, row).value
    if isinstance(target, list):
        target = target[0] if target else ""
    return [str(target) if right else "Non saprei."]


def _declared(source: Source, returned: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    names = {str(entry.get("metric")): where for where, entry in source.entries("metric_list")}
    computed = dict.fromkeys(name for values in returned for name in values)
    if not names:
        return
    for name in computed:
        if name not in names:
            mend = did_you_mean(name, names.keys() - computed.keys(), f"add `- metric: {name}` to metric_list")
            yield source.finding(
                UNDECLARED, ("metric_list",), f"process_results returns {name!r}, which metric_list lacks", mend
            )
    for name, where in names.items():
        if name not in computed:
            mend = did_you_mean(name, computed.keys() - names.keys(), "take it out, or return it")
            yield source.finding(UNRETURNED, (*where, "metric"), f"process_results does not return {name!r}", mend)


def _aggregated(source: Source, functions: Functions, returned: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for where, entry in source.entries("metric_list"):
        key = (*where, "aggregation")
        if key not in functions:
            continue
        values = [row[entry["metric"]] for row in returned if entry.get("metric") in row]
        for rows, name in ((values, "all rows"), (values[:1], "one row"), ([], "no rows")):
            outcome = attempt(functions[key], rows)
            if outcome.error is not None:
                what = f"{source.functions[key].text} fails on {name} ({outcome.reason})"
                yield source.finding(AGGREGATION, key, what, "let it return NaN where there is no value")
                break
            if outcome.value is None:
                what = f"{source.functions[key].text} returns None for {name}"
                yield source.finding(AGGREGATION, key, what, "return NaN: the harness's group means cannot carry None")
                break


def _several_targets(source: Source, renderer: Renderer, table: Table) -> Iterator[Finding]:
    if source.config.get("output_type", "generate_until") != "generate_until" or not table.rows:
        return
    target = attempt(renderer.target, table.rows[0]).value
    names = [str(entry.get("metric")) for _, entry in source.entries("metric_list")]
    turned = [name for name in names if name not in _OF_SEVERAL]
    if isinstance(target, list) and turned:
        what = f"the target is a list, so {', '.join(turned)} becomes 1 where any answer scores above 0"
        yield source.finding(
            LIST_TARGET,
            renderer.where("doc_to_target"),
            what,
            "compute it in process_results, as the best over the answers",
        )
