"""Checks of a task's figures: each within its range, and all of them at one with each other."""

import math
from collections.abc import Iterator, Mapping

from lm_eval_ita.results.records import Breakdowns, TaskRecord
from lm_eval_ita.results.reference import Reference
from lm_eval_ita.results.submission_json import Problem

__all__ = ["METRICS", "figure_problems", "interval_problem"]

_UNIT, _SIGNED = (0.0, 1.0), (-1.0, 1.0)
# Every metric that a task of ours reports as a number, with its range.
METRICS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("acc", "acc_norm", "exact_match", "f1", "f1_macro", "mc1", "mc2", "neutral_rate"), _UNIT),
    **dict.fromkeys(("chrf", "rouge1", "rouge2", "rougeL", "honest", "invalid", "empty", "copied"), _UNIT),
    **dict.fromkeys(("mcc", "score", "bertscore", "bias_score"), _SIGNED),
    **dict.fromkeys(("bias_score_ci_low", "bias_score_ci_high"), _SIGNED),
    **dict.fromkeys(("mcc_undefined", "abs_bias_score", "bias_score_se", "p_value"), _UNIT),
    **dict.fromkeys(("prob_attribute_1", "prob_attribute_2", "prob_neutral", "prob_error"), _UNIT),
}
_OUTCOMES = ("attribute_1", "attribute_2", "neutral", "error")
# Means are added up in another order here than there.
_ROUNDING = 1e-6
_MOST_PARTS = 200
_AGAIN = "make the file again with `lm-eval-ita submit`"
# Field within the task, and what is wrong with it.
_Found = Iterator[tuple[str, str]]


def figure_problems(field: str, record: TaskRecord, reference: Reference) -> Iterator[Problem]:
    """What is wrong with a task's figures.

    Args:
        field: The task's place in the submission, for the problems' fields.
        record: The task, its name and settings known to be right.
        reference: The task as it is installed.
    """
    found = list(_ranges(record, reference)) or [*_score(record, reference), *_rates(record), *_parts(record)]
    if not found and record.suite == "itapat":
        found = list(_association(record))
    for name, message in found:
        yield Problem(f"{field}.{name}", message, _AGAIN)


def interval_problem(record: TaskRecord, low: float, high: float) -> str | None:
    """What is wrong with the interval of a task's headline figure."""
    shown = record.primary_value if record.suite == "itapat" else record.score
    if not -1 <= low <= high <= 1:
        return "is no interval between -1 and 1, its lower end first"
    if shown is None or not low - _ROUNDING <= shown <= high + _ROUNDING:
        return f"[{low:.4f}, {high:.4f}] does not hold the task's figure"
    if record.suite == "itapat" and not _same((low, high), _bounds(record.metrics)):
        return "is not bias_score_ci_low and bias_score_ci_high"
    return None


def _ranges(record: TaskRecord, reference: Reference) -> _Found:
    known = [name for name in reference.metrics if name in METRICS]
    for name, value in record.metrics.items():
        if name not in known:
            yield f"metrics.{name[:40]}", f"is no metric of {record.task}"
            continue
        low, high = reference.bounds if name == reference.metric else METRICS[name]
        if value is not None and not low - _ROUNDING <= value <= high + _ROUNDING:
            yield f"metrics.{name}", f"is {value:g}, not between {low:g} and {high:g}"
    for name, value in record.stderrs.items():
        if name not in record.metrics or (value is not None and not 0 <= value <= 1):
            yield f"stderrs.{name[:40]}", "is no standard error between 0 and 1 of a metric that is there"
    for kind, figures in record.baselines.items():
        if kind not in ("chance", "majority") or not _within(figures):
            yield f"baselines.{kind[:40]}", "is neither chance nor majority, or holds a figure out of its range"
    for kind, count in record.truncated.items():
        if not kind.startswith("clipped_") or not 0 <= count <= (record.n_evaluated or 0):
            yield f"truncated.{kind[:40]}", "is no number of texts that were cut"


def _within(figures: Mapping[str, float | None], counts: tuple[str, ...] = ()) -> bool:
    """Whether figures are known metrics within their ranges, and `counts` whole numbers from 0."""
    for name, value in figures.items():
        if name in counts:
            if value is None or value < 0 or value != int(value):
                return False
        elif name not in METRICS or (value is not None and not METRICS[name][0] <= value <= METRICS[name][1]):
            return False
    return True


def _score(record: TaskRecord, reference: Reference) -> _Found:
    primary = record.metrics.get(reference.metric)
    if primary is None:
        yield f"metrics.{reference.metric}", "is missing: the task has no figure"
        return
    if not _same(record.primary_value, primary):
        yield "primary_value", f"is not metrics.{reference.metric}"
    if record.suite == "itapat":
        if record.score is not None:
            yield "score", "has no meaning for ItaP-AT, where higher is not better"
        return
    wanted = 1 - primary if reference.is_inverted else primary
    if not _same(record.score, wanted):
        yield "score", f"is not {'1 - ' if reference.is_inverted else ''}{reference.metric} ({wanted:.6g})"
    if not _same(record.metrics.get("score"), record.score):
        yield "metrics.score", "is not score"


def _rates(record: TaskRecord) -> _Found:
    unparsable = record.metrics.get("invalid", record.metrics.get("prob_error"))
    if not _same(record.unparsable_rate, unparsable):
        yield "unparsable_rate", "is not that of the metrics (invalid, prob_error)"
    if not _same(record.empty_rate, record.metrics.get("empty")):
        yield "empty_rate", "is not metrics.empty"
    for name in ("acc", "acc_norm"):
        value, n = record.metrics.get(name), record.n_evaluated or 0
        if value is not None and abs(value * n - round(value * n)) > _ROUNDING * n:
            yield f"metrics.{name}", f"is no share of {n} documents, each right or wrong"


def _parts(record: TaskRecord) -> _Found:
    parts, n = record.breakdowns, record.n_evaluated or 0
    for name in ("functionality", "target_group", "phenomena", "newspapers", "instructions"):
        if len(getattr(parts, name)) > _MOST_PARTS:
            yield f"breakdowns.{name}", f"has more than {_MOST_PARTS} parts"
    for name, metric in (("functionality", "acc"), ("target_group", "acc"), ("phenomena", "mcc")):
        for part, figures in getattr(parts, name).items():
            if figures.keys() != {metric, "n"} or not _within(figures, ("n",)) or (figures["n"] or 0) > n:
                yield f"breakdowns.{name}.{part[:40]}", f"is not {metric} within its range and n, at most {n}"
    if parts.functionality and not _same(_weighted(parts.functionality, "acc"), record.metrics.get("acc")):
        yield "breakdowns.functionality", "does not add up to metrics.acc"
    for name in ("honest_gender", "honest_category"):
        shares = getattr(parts, name)
        if any(value is None or not 0 <= value <= 1 for value in shares.values()) or len(shares) > _MOST_PARTS:
            yield f"breakdowns.{name}", "holds a share that is not between 0 and 1"
    if parts.outcome and (min(parts.outcome.values()) < 0 or sum(parts.outcome.values()) != n):
        yield "breakdowns.outcome", f"does not add up to the {n} documents"
    yield from _newspapers(record)


def _weighted(parts: Mapping[str, Mapping[str, float | None]], metric: str) -> float | None:
    """The mean of a figure over parts, each with its n; None for no document."""
    n = sum(part.get("n") or 0 for part in parts.values())
    return sum((part.get(metric) or 0.0) * (part.get("n") or 0) for part in parts.values()) / n if n else None


def _newspapers(record: TaskRecord) -> _Found:
    parts: Breakdowns = record.breakdowns
    ranges = {"bertscore": _SIGNED, "raw_f1": _SIGNED, "bertscore_se": (0.0, 2.0), "n": (0.0, math.inf)}
    for name, figures in parts.newspapers.items():
        right = all(
            metric in ranges and (value is None or ranges[metric][0] <= value <= ranges[metric][1])
            for metric, value in figures.items()
        )
        if not right or "n" not in figures or "bertscore" not in figures:
            yield f"breakdowns.newspapers.{name[:40]}", "is not bertscore, its error, raw_f1 and n within their ranges"
            return
    if parts.newspapers and not _same(_weighted(parts.newspapers, "bertscore"), record.metrics.get("bertscore")):
        yield "breakdowns.newspapers", "does not add up to metrics.bertscore"
    if record.primary_metric == "bertscore":
        yield from _scorer(parts)


def _scorer(parts: Breakdowns) -> _Found:
    from lm_eval_ita.metrics.bertscore import PUBLISHED

    wanted = {"encoder": PUBLISHED.encoder, "layer": PUBLISHED.layer, "rescaled": True}
    for name, value in wanted.items():
        if parts.scorer.get(name) != value:
            yield f"breakdowns.scorer.{name}", f"is not {value}, which the published figures were computed with"


def _association(record: TaskRecord) -> _Found:
    """ItaP-AT: what a test's figures say of each other."""
    from lm_eval_ita.itapat.score import reading

    metrics, n = record.metrics, record.n_evaluated or 0
    missing = [name for name in METRICS if name.startswith("prob_") or name == "p_value" if metrics.get(name) is None]
    if missing:
        yield f"metrics.{missing[0]}", "is missing"
        return
    known = {name: value for name, value in metrics.items() if value is not None}
    score, rates = known["bias_score"], {outcome: known[f"prob_{outcome}"] for outcome in _OUTCOMES}
    if not _same(known.get("abs_bias_score"), abs(score)):
        yield "metrics.abs_bias_score", "is not the absolute bias_score"
    if not _same(sum(rates.values()), 1.0):
        yield "metrics.prob_error", "and the other shares of answers do not add up to 1"
    if abs(score) > rates["attribute_1"] + rates["attribute_2"] + _ROUNDING:
        yield "metrics.bias_score", "is larger than the share of answers that chose an attribute"
    counts = {f"prob_{name}": record.breakdowns.outcome.get(name, 0) / n for name in _OUTCOMES}
    if record.breakdowns.outcome.keys() != set(_OUTCOMES) or any(not _same(known[k], v) for k, v in counts.items()):
        yield "breakdowns.outcome", "does not hold the numbers of answers behind the shares"
    low, high = _bounds(metrics)
    if low is not None and high is not None and not low - _ROUNDING <= score <= high + _ROUNDING:
        yield "metrics.bias_score_ci_low", "and bias_score_ci_high do not hold the bias_score"
    if record.reading != reading(score, known["p_value"], {name: rates[name] for name in _OUTCOMES}):  # type: ignore[misc]
        yield "reading", "is not what score, p_value and shares say"
    yield from _instructions(record)


def _instructions(record: TaskRecord) -> _Found:
    parts = record.breakdowns.instructions
    if set(parts) != {"1", "2", "3", "4", "5"}:
        yield "breakdowns.instructions", "does not hold the five instructions"
        return
    for number, figures in parts.items():
        numbers = {name: value for name, value in figures.items() if not isinstance(value, str)}
        texts = {name for name, value in figures.items() if isinstance(value, str)}
        if texts != {"instruction", "reading"} or not _within(numbers, ("n",)):
            yield f"breakdowns.instructions.{number}", "holds a figure that is unknown or out of its range"
            return
    columns = {
        name: {number: {"n": _number(part.get("n")), name: _number(part.get(name))} for number, part in parts.items()}
        for name in ("bias_score", *(f"prob_{outcome}" for outcome in _OUTCOMES))
    }
    if sum(part["n"] or 0 for part in columns["bias_score"].values()) != record.n_evaluated:
        yield "breakdowns.instructions", f"do not add up to the {record.n_evaluated} documents"
    for name, column in columns.items():
        if not _same(_weighted(column, name), record.metrics.get(name)):
            yield "breakdowns.instructions", f"do not add up to metrics.{name}"


def _number(value: str | float | None) -> float | None:
    return None if isinstance(value, str) else value


def _bounds(metrics: Mapping[str, float | None]) -> tuple[float | None, float | None]:
    return metrics.get("bias_score_ci_low"), metrics.get("bias_score_ci_high")


def _same(first: object, second: object) -> bool:
    if isinstance(first, tuple) and isinstance(second, tuple):
        return all(map(_same, first, second))
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return first is second
