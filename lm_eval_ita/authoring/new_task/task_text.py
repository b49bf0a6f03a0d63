"""The task file of a new task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_ita.authoring.new_task.plan import About, AssociationPlan, Plan
from lm_eval_ita.authoring.new_task.yaml_text import flow, mapping, quoted_list, scalar

__all__ = ["association_text", "task_text"]

_CHOICES = "lm_eval_ita.harness.choices"
_OWN = "lm_eval_ita.harness.own"
_ITAEVAL = "lm_eval_ita.harness.itaeval"
_ITAPAT = "lm_eval_ita.harness.itapat"

# Metric, aggregation, whether higher is better: as in the package's own task files.
_Metrics = Sequence[tuple[str, str, bool | None]]
_OPTIONS: _Metrics = (
    ("acc_norm", "mean", True),
    ("acc", "mean", True),
    ("score", "mean", True),
    ("invalid", "mean", False),
    ("baselines", f"!function {_CHOICES}.position_baselines", None),
)
_LABELS: _Metrics = (
    ("f1_macro", f"!function {_CHOICES}.f1_macro", True),
    ("acc", "mean", True),
    ("score", f"!function {_CHOICES}.f1_macro", True),
    ("baselines", f"!function {_CHOICES}.class_baselines", None),
)
_SHORT: _Metrics = (
    ("exact_match", "mean", True),
    ("f1", "mean", True),
    ("score", "mean", True),
    ("empty", "mean", False),
)
_LONG: _Metrics = (
    ("rougeL", "mean", True),
    ("rouge1", "mean", True),
    ("score", "mean", True),
    ("empty", "mean", False),
)
_ASSOCIATION: _Metrics = (
    ("bias_score", f"!function {_ITAPAT}.mean", None),
    ("abs_bias_score", f"!function {_ITAPAT}.absolute_mean", False),
    ("bias_score_se", f"!function {_ITAPAT}.standard_error", None),
    ("bias_score_ci_low", f"!function {_ITAPAT}.interval_low", None),
    ("bias_score_ci_high", f"!function {_ITAPAT}.interval_high", None),
    ("p_value", f"!function {_ITAPAT}.fisher", None),
    ("prob_attribute_1", f"!function {_ITAPAT}.mean", None),
    ("prob_attribute_2", f"!function {_ITAPAT}.mean", None),
    ("prob_neutral", f"!function {_ITAPAT}.mean", None),
    ("prob_error", f"!function {_ITAPAT}.mean", False),
    ("reading", f"!function {_ITAPAT}.reading", None),
    ("outcome", f"!function {_ITAPAT}.outcome_counts", None),
    ("instructions", f"!function {_ITAPAT}.by_instruction", None),
)


def task_text(plan: Plan) -> str:
    """The YAML of a task over rows."""
    lines = [
        f"# Made by `lm-eval-ita new-task`. The data: {_CATALOGUE_NOTE}",
        f"task: {plan.name}",
        f"custom_dataset: !function {_OWN}.load",
        "test_split: test",
        f"process_docs: !function {_ITAEVAL}.documents",
    ]
    if plan.shots_from is not None:
        lines += [
            "fewshot_config:",
            "  split: test",
            f"  process_docs: !function {_ITAEVAL}.examples",
            "  sampler: !function lm_eval_ita.harness.fewshot.SeededSampler",
        ]
    lines += [
        f"num_fewshot: {plan.shots}",
        f"doc_to_text: {scalar(plan.prompt)}",
        'target_delimiter: " "',
        r'fewshot_delimiter: "\n\n"',
    ]
    lines += _answering(plan)
    splits = {"eval": plan.evaluated, **({} if plan.shots_from is None else {"shots": plan.shots_from})}
    columns = plan.columns.model_dump(exclude_none=True, exclude_defaults=True)
    card: dict[str, str] = {"dataset": scalar(plan.name), "splits": mapping(splits), "columns": mapping(columns)}
    lines += _card(card, plan.about, plan.metric, plan.chance, (0, 1), plan.deviations, plan.accepts)
    return "\n".join(lines) + "\n"


_CATALOGUE_NOTE = "catalogue.yaml. Check it: `lm-eval-ita validate PATH`."


def _answering(plan: Plan) -> list[str]:
    if plan.kind != "generation":
        labels = plan.options is not None
        return [
            "output_type: multiple_choice",
            f"doc_to_choice: {'options' if plan.options is None else quoted_list(plan.options)}",
            "doc_to_target: label",
            f"process_results: !function {_CHOICES}.{'classification' if labels else 'multiple_choice'}_results",
            *_metric_list(_LABELS if labels else _OPTIONS),
        ]
    short = plan.metric == "exact_match"
    results = "lm_eval_ita.harness.generation.squad_results" if short else f"{_OWN}.text_results"
    return [
        "output_type: generate_until",
        "doc_to_target: gold",
        *_generation(plan.max_gen_toks or 0, r'["\n"]' if short else r'["\n\n"]'),
        f"process_results: !function {results}",
        *_metric_list(_defined(_SHORT if short else _LONG) if plan.unanswered else _SHORT if short else _LONG),
    ]


def _defined(metrics: _Metrics) -> _Metrics:
    """The same over the rows that have a value."""
    mean = "!function lm_eval_ita.harness.generation.mean_defined"
    return [(name, aggregation if name == "empty" else mean, higher) for name, aggregation, higher in metrics]


def association_text(plan: AssociationPlan) -> str:
    """The YAML of an association test."""
    lines = [
        "# Made by `lm-eval-ita new-task`. Words and questions: the list file. Check it: `lm-eval-ita validate PATH`.",
        f"task: {plan.name}",
        "custom_dataset: !function lm_eval_ita.harness.own_itapat.load",
        "test_split: test",
        "num_fewshot: 0",
        *([f"description: {scalar(plan.system)}"] if plan.system else []),
        'doc_to_text: "{{prompt}}"',
        "# Not a gold answer, there is none: the two attributes, for whoever reads the samples.",
        'doc_to_target: "{{attribute_1}} / {{attribute_2}}"',
        "output_type: generate_until",
        *_generation(32, r'["\n\n"]'),
        "process_results: !function lm_eval_ita.harness.own_itapat.process_results",
        *_metric_list(_ASSOCIATION),
    ]
    card = {"title": scalar(plan.title), "dataset": scalar(plan.name), "lists": scalar(f"lists/{plan.name}.yaml")}
    lines += _card(card, plan.about, "bias_score", None, (-1, 1), (), {})
    return "\n".join(lines) + "\n"


def _generation(max_gen_toks: int, until: str) -> list[str]:
    return [
        "generation_kwargs:",
        "  do_sample: false",
        "  temperature: 0.0",
        f"  max_gen_toks: {max_gen_toks}",
        f"  until: {until}",
    ]


def _metric_list(metrics: _Metrics) -> list[str]:
    lines = ["metric_list:"]
    for name, aggregation, higher in metrics:
        lines += [f"  - metric: {name}", f"    aggregation: {aggregation}", f"    higher_is_better: {scalar(higher)}"]
    return lines


def _card(
    own: Mapping[str, str],
    about: About,
    metric: str,
    chance: float | None,
    range_: tuple[int, int],
    deviations: Sequence[str],
    accepts: Mapping[str, Any],
) -> list[str]:
    fields = {
        "version": "1.0",
        **own,
        "origin": about.origin,
        "primary_metric": metric,
        "chance": scalar(chance),
        "range": flow(range_),
        "paper": scalar(about.paper),
        "deviations": flow(deviations),
        **({"accepts": mapping(accepts)} if accepts else {}),
    }
    return ["metadata:", *(f"  {name}: {value}" for name, value in fields.items())]
