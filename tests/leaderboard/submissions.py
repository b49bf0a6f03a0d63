"""Good submissions, made of records; ItaP-AT's figures come from answers, by the suite's own functions."""

import functools
import random
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lm_eval_ita.harness import itapat
from lm_eval_ita.itapat import build_rows, find_test
from lm_eval_ita.metrics.bertscore import PUBLISHED
from lm_eval_ita.results.answers import prompt_name
from lm_eval_ita.results.records import Breakdowns, ModelIdentity, RunRecord, TaskRecord
from lm_eval_ita.results.reference import document_count, references
from lm_eval_ita.results.submission_figures import METRICS
from lm_eval_ita.results.submission_records import ModelFacts, Submission, with_id

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
ITAEVAL = tuple(name for name, reference in references().items() if reference.suite == "itaeval")
ITAPAT = tuple(
    name for name, reference in references().items() if reference.suite == "itapat" and not reference.oneshot
)


def facts(name: str = "Modello 7B", **changes: Any) -> ModelFacts:
    given: dict[str, Any] = {
        "display_name": name,
        "organisation": "Università di Esempio",
        "parameters": 7_000_000_000,
        "kind": "base",
        "licence": "apache-2.0",
        "languages": ("it", "en"),
        "open_weights": True,
        "contamination": "Not known to hold data of these benchmarks.",
        "link": "https://huggingface.co/org/model",
    }
    return ModelFacts(**given | changes)


def task(name: str, score: float = 0.5) -> TaskRecord:
    """A task that was run on its whole data set."""
    reference = references()[name]
    count = document_count(reference) or 10_042
    known: dict[str, Any] = {
        "name": name,
        "task": name,
        "layout": "lm_eval_ita",
        "suite": reference.suite,
        "category": reference.category,
        "title": reference.title,
        "oneshot": reference.oneshot,
        "version": reference.version,
        "shots": reference.shots,
        "fewshot_seed": 1234,
        "n_evaluated": count,
        "n_total": count,
        "data": "catalogue",
        "text_origin": reference.origin,
        "primary_metric": reference.metric,
        "chance_level": reference.chance,
    }
    made = _association(name) if reference.suite == "itapat" else _scored(name, score, count)
    return TaskRecord(**known, **made)


def _scored(name: str, score: float, count: int) -> dict[str, Any]:
    reference = references()[name]
    share = round(score * count) / count  # of documents that are right
    score = share if reference.metric.startswith("acc") else score
    metrics = {metric: share for metric in reference.metrics if metric in METRICS}
    metrics |= {"score": score, reference.metric: 1 - score if reference.is_inverted else score}
    metrics |= {metric: 0.0 for metric in ("invalid", "empty", "copied", "mcc_undefined") if metric in metrics}
    parts: dict[str, Any] = {}
    if "functionality" in reference.metrics:
        parts = {"functionality": {"derog_neg_emote_h": {"acc": share, "n": count}}}
    if "phenomena" in reference.metrics:
        parts = {"phenomena": {"wh-islands_violations": {"mcc": 0.25, "n": 30}}}
    if "honest_parts" in reference.metrics:
        parts = {"honest_gender": {"female": 0.5, "male": 0.25}, "honest_category": {"asf": 0.125}}
    if "bertscore" in reference.metrics:
        parts = {
            "newspapers": {"ilpost": {"bertscore": score, "bertscore_se": 0.01, "raw_f1": 0.75, "n": count}},
            "scorer": {"encoder": PUBLISHED.encoder, "layer": PUBLISHED.layer, "rescaled": True, "device": "cuda:0"},
        }
    return {
        "primary_value": metrics[reference.metric],
        "score": score,
        "metrics": metrics,
        "stderrs": {"score": 0.01},
        "unparsable_rate": metrics.get("invalid"),
        "empty_rate": metrics.get("empty"),
        "baselines": {"chance": {"acc": 0.5}, "majority": {"acc": 0.75}},
        "breakdowns": Breakdowns(**parts),
        "task_hash": "0123456789abcdef" * 4,
    }


def _answers(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Prompts of a test with what the metrics take of their answers, of a model with a leaning."""
    subset, _, number = name.removeprefix("itapat_").removeprefix("oneshot_").partition("_")
    rows = build_rows(find_test(subset, number), oneshot="oneshot" in name)
    rng = random.Random(name)
    found = []
    for row in rows:
        pair = [row["attribute_1"], row["attribute_2"]]
        stereotype = pair[row["side"] == "Y"]
        text = rng.choice([stereotype, stereotype, *pair, "non so", "blah"])
        found.append((dict(row), itapat.process_results(row, [text])))
    return found


@functools.cache
def _association(name: str) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for _, computed in _answers(name):
        for metric, value in computed.items():
            values.setdefault(metric, []).append(value)
    means = [metric for metric in values if metric.startswith(("prob_", "bias_score")) and "_ci" not in metric]
    metrics = {metric: itapat.mean(values[metric]) for metric in means if not metric.endswith("_se")}
    metrics |= {
        "abs_bias_score": itapat.absolute_mean(values["abs_bias_score"]),
        "bias_score_se": itapat.standard_error(values["bias_score_se"]),
        "bias_score_ci_low": itapat.interval_low(values["bias_score_ci_low"]),
        "bias_score_ci_high": itapat.interval_high(values["bias_score_ci_high"]),
        "p_value": itapat.fisher(values["p_value"]),
    }
    parts = Breakdowns(
        outcome=itapat.outcome_counts(values["outcome"]),
        instructions={number: dict(part) for number, part in itapat.by_instruction(values["instructions"]).items()},
    )
    return {
        "primary_value": metrics["bias_score"],
        "metrics": metrics,
        "reading": itapat.reading(values["reading"]),
        "unparsable_rate": metrics["prob_error"],
        "breakdowns": parts,
    }


def interval(record: TaskRecord) -> tuple[float, float]:
    if record.suite == "itapat":
        low, high = (record.metrics[f"bias_score_ci_{end}"] for end in ("low", "high"))
        assert low is not None
        assert high is not None
        return low, high
    assert record.score is not None
    return max(-1.0, record.score - 0.05), min(1.0, record.score + 0.05)


def submission(
    model: str = "org/model",
    score: float = 0.5,
    tasks: Sequence[str] = ("itaeval_xcopa",),
    name: str = "Modello 7B",
    **changes: Any,
) -> Submission:
    """A good submission; `changes` go into the facts."""
    records = {own: task(own, score) for own in tasks}
    run = RunRecord(
        model=ModelIdentity(name=model, backend="hf", dtype="bfloat16", parameters=7_241_732_096),
        software={"lm_eval": "0.4.13", "torch": "2.13.0+cpu"},
        date=MOMENT,
        run_seconds=3600.5,
        batch_size="auto",
        source=Path("submission"),
        tasks=records,
    )
    return with_id(
        Submission(
            submission_id="0" * 16,
            submitted=MOMENT,
            facts=facts(name, **changes),
            run=run,
            intervals={own: interval(record) for own, record in records.items()},
            cost={"wall_seconds": 3600.5, "tokens_in": 1_000_000},
        )
    )


def steps(name: str) -> list[int]:
    """The answers behind a test's figures, +1 for the stereotype, in the order of the prompts' names."""
    named = {prompt_name(row): computed["bias_score"] for row, computed in _answers(name)}
    return [named[key] for key in sorted(named)]
