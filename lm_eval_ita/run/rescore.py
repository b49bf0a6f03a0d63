"""Recompute the metrics of our tasks from logged samples, without a model.

The functions are those that the task's YAML names today, so a changed parser or metric applies to answers generated
before (the samples hold the answers and the documents).
"""

import importlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import TaskFile, read_task_files
from lm_eval_ita.results.records import RunRecord, TaskRecord
from lm_eval_ita.results.samples import iter_samples

__all__ = ["Rescored", "new_content", "rescore_run", "rescore_task", "same"]

_LogLikelihood = tuple[float, bool]


@dataclass(frozen=True)
class Rescored:
    """The figures of one task, as logged and as computed now.

    Attributes:
        task: Its name.
        metric: The metric behind its score.
        old, new: Metric to value as in the results file, standard errors included; NaN where missing.
        without_scorer: Metrics that could not be recomputed since their scorer model is not there; missing in `new`.
        note: Why it is not there.
        problem: Why nothing was recomputed; `new` is empty then.
    """

    task: str
    metric: str
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    without_scorer: tuple[str, ...] = ()
    note: str | None = None
    problem: str | None = None


def rescore_run(run: RunRecord, content: Mapping[str, Any]) -> Iterator[Rescored]:
    """Rescore every task of ours in a run, one after another.

    Args:
        run: The record of the results file.
        content: The file's content, for the figures as they were written.
    """
    files = {file.name: file for file in read_task_files()}
    for name, record in run.tasks.items():
        if record.layout != "lm_eval_ita":
            continue
        old = {key: value for key, value in content["results"][name].items() if "," in key}
        metric = record.primary_metric or "score"
        if name not in files:
            yield Rescored(name, metric, old, {}, problem="it is no task of this version")
            continue
        card = content["configs"][name]["metadata"]
        try:
            new, note = rescore_task(files[name], record, card.get("data_dir"))
        except UserError as error:
            yield Rescored(name, metric, old, {}, problem=str(error))
        else:
            without = tuple(name for name in (metric, "score", f"{metric}_parts") if f"{name},none" in new)
            yield Rescored(name, metric, old, new, without if note else (), note)


def rescore_task(file: TaskFile, record: TaskRecord, data_dir: str | None = None) -> tuple[dict[str, Any], str | None]:
    """Compute a task's figures from its logged samples.

    Args:
        file: The task as it is installed.
        record: The task as it was run.
        data_dir: Where the run had its data from, for HurtLex.

    Returns:
        The figures under the names of the results file ("acc,none", "acc_stderr,none"), and why the scorer model is not
        there, so that its metrics are missing; None where it is, or none is needed.

    Raises:
        UserError: There are no samples, they are damaged or not all there, or they do not fit the task.
    """
    if record.samples is None:
        raise UserError(f"{record.name} has no samples: run it with --log_samples")
    if file.card is None or "metric_list" not in file.config:
        raise UserError(f"{record.name} is no task")
    note = _prepare(file, data_dir)
    process = _function(file.config["process_results"])
    parse = _log_likelihoods if file.config["output_type"] == "multiple_choice" else _texts
    values: dict[str, list[Any]] = {}
    for doc, answers in _answers(record, parse):
        try:
            computed = process(doc, answers)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"[:120]
            raise UserError(
                f"a document does not fit this version of {record.name} ({reason})", file=record.samples
            ) from error
        for metric, value in computed.items():
            values.setdefault(metric, []).append(value)
    return _aggregated(file, values), note


def _aggregated(file: TaskFile, values: Mapping[str, list[Any]]) -> dict[str, Any]:
    from lm_eval.api import metrics as harness_metrics

    aggregations = {entry["metric"]: entry["aggregation"] for entry in file.config["metric_list"]}
    figures: dict[str, Any] = {}
    for metric, items in values.items():
        named = aggregations[metric]
        aggregate = harness_metrics.mean if named == "mean" else _function(named)
        figures[f"{metric},none"] = aggregate(items)
        with_error = named == "mean" and len(items) > 1
        figures[f"{metric}_stderr,none"] = harness_metrics.mean_stderr(items) if with_error else "N/A"
    return figures


def _prepare(file: TaskFile, data_dir: str | None) -> str | None:
    """What the loader does when a task is built: whether its scorer is there, and which HurtLex to use.

    Returns:
        Why the task's scorer is not there.
    """
    from lm_eval_ita import catalogue
    from lm_eval_ita.harness import generation
    from lm_eval_ita.harness.itaeval import SCORERS
    from lm_eval_ita.metrics.scorers import require

    card, note = file.card, None
    if card is not None and (scorer := SCORERS.get(card.primary_metric)) is not None:
        try:
            note = None if require(scorer) else "LM_EVAL_ITA_SCORERS=skip"
        except UserError as error:
            note = str(error)
        generation.use_scorer(card.primary_metric, note is None)
    if card is not None and card.dataset == "honest":
        generation.use_hurtlex(catalogue.path("hurtlex", data_dir=data_dir))
    return note


def _function(name: str) -> Callable[..., Any]:
    """The function that a task file names: `!function` with an absolute reference, kept as text by our reader."""
    module, _, attribute = name.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return found


def _answers(record: TaskRecord, parse: Callable[[Any], Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Each document with the model's answers to it, in the types that the harness gives to `process_results`."""
    assert record.samples is not None
    seen: set[Any] = set()
    for number, sample in enumerate(iter_samples(record.samples), start=1):
        doc, identity = sample["doc"], sample.get("doc_id")
        if not isinstance(doc, dict) or not isinstance(identity, int):
            raise UserError("is not a sample of the harness: no 'doc' or 'doc_id'", file=record.samples, line=number)
        if identity in seen:
            raise UserError(f"document {identity} is there twice", file=record.samples, line=number)
        seen.add(identity)
        answers = parse(sample.get("filtered_resps"))
        if answers is None:
            raise UserError("'filtered_resps' holds no answer of this task", file=record.samples, line=number)
        yield doc, answers
    if record.n_evaluated is not None and len(seen) != record.n_evaluated:
        raise UserError(f"holds {len(seen)} of {record.n_evaluated} documents", file=record.samples)


def _texts(responses: object) -> list[str] | None:
    if isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], str):
        return responses
    return None


def _log_likelihoods(responses: object) -> list[_LogLikelihood] | None:
    if not isinstance(responses, list) or not responses:
        return None
    pairs = [_log_likelihood(response) for response in responses]
    return None if None in pairs else [pair for pair in pairs if pair is not None]


def _log_likelihood(response: object) -> _LogLikelihood | None:
    """(log-likelihood, whether greedy), which the harness writes as two texts: "-1.5", "False"."""
    if not isinstance(response, list) or len(response) != 2:
        return None
    value, greedy = response
    flag = {"True": True, "False": False}.get(greedy) if isinstance(greedy, str) else greedy
    if not isinstance(flag, bool) or isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value), flag
    except ValueError:
        return None


def same(old: object, new: object) -> bool:
    """Whether two values of a metric are equal but for rounding; what is missing ("N/A", NaN, null) equals itself."""
    if _missing(old) or _missing(new):
        return _missing(old) and _missing(new)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if isinstance(old, int | float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(old, Sequence) and isinstance(new, Sequence) and not isinstance(old, str):
        return len(old) == len(new) and all(map(same, old, new))
    return old == new


def _missing(value: object) -> bool:
    return value is None or value == "N/A" or (isinstance(value, float) and math.isnan(value))


def new_content(content: Mapping[str, Any], rescored: Sequence[Rescored], version: str) -> dict[str, Any]:
    """The results file with the new figures, of the tasks that could be rescored; the rest stays as it was.

    Group rows are left out, since they would average old figures.
    """
    results = {name: dict(content["results"][name]) for name in content["configs"] if name in content["results"]}
    for task in rescored:
        if task.problem is None:
            kept = {key: value for key, value in results[task.task].items() if "," not in key}
            results[task.task] = {**kept, **task.new}
    others = {key: value for key, value in content.items() if key not in ("results", "groups")}
    return {"results": results, **others, "rescored": {"lm_eval_ita": version}}
