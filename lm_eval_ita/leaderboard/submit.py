"""From a run's folder to a submission: every figure computed again from the samples, no path of the machine left."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.itaeval import SCORERS
from lm_eval_ita.harness.task_files import read_task_files
from lm_eval_ita.leaderboard.model_yaml import read_facts
from lm_eval_ita.leaderboard.store import RefusedError
from lm_eval_ita.results.collect import Collection, collect
from lm_eval_ita.results.compare import one_model
from lm_eval_ita.results.documents import document_problems, task_documents
from lm_eval_ita.results.reader import load_results
from lm_eval_ita.results.records import BOARD_SUITES, Hardware, ModelIdentity, RunRecord, TaskRecord, as_number
from lm_eval_ita.results.reference import Reference, references
from lm_eval_ita.results.submission import validate
from lm_eval_ita.results.submission_facts import COSTS, MODEL_NAME, SOURCE
from lm_eval_ita.results.submission_figures import interval_problem
from lm_eval_ita.results.submission_records import (
    Documents,
    ModelFacts,
    Submission,
    TaskDocuments,
    documents_hash,
    submission_hash,
    upload_bytes,
)
from lm_eval_ita.results.submission_tasks import setting_problems
from lm_eval_ita.results.suite import suite_tables
from lm_eval_ita.run.rescore import Rescored, rescore_run, same

__all__ = ["Built", "build"]

# One rewriting in 500 may fall to the other side on another device, and summaries' scores differ in the fifth digit.
_SCORER_TOLERANCE = 2e-3
# Of 10,000 resamples; another version of NumPy may draw others.
_RESAMPLED = ("bias_score_se", "bias_score_ci_low", "bias_score_ci_high")
_RESAMPLING_TOLERANCE = 0.02
_LOCAL = re.compile(r"[^\s=,'\"]*[/\\][^\s=,'\"]*")


@dataclass(frozen=True)
class Built:
    """A submission that the validator takes.

    Attributes:
        submission: With every figure.
        documents: Figures by document; None where no task has any.
        notes: What was left out, one line each.
    """

    submission: Submission
    documents: Documents | None
    notes: tuple[str, ...]


def build(paths: Sequence[Path], info: Path, now: datetime) -> Built:
    """Make a submission of a model's runs.

    Args:
        paths: Folders or results files of one model, with samples.
        info: The `model.yaml`.
        now: When, UTC.

    Raises:
        UserError: A file cannot be read, there are runs of several models, samples are missing, or they give other
            figures than the results file.
        RefusedError: The validator would refuse it, for a limited run for instance.
    """
    where = ", ".join(map(str, paths))
    collection = collect(paths)
    if collection.problems:
        raise UserError(collection.problems[0])
    one_model(collection.runs, where)
    run, notes = _ours(collection, where)
    counted = run.model.parameters if run.model.quantisation is None else None
    facts = read_facts(info, counted)
    stripped = _stripped(run, facts)
    draft = Submission(submission_id="0" * 16, submitted=now, facts=facts, run=stripped, cost=_cost(collection.runs))
    # Before minutes are spent on samples.
    if problems := list(setting_problems(draft)):
        raise RefusedError(problems)
    _rescore(collection.runs)
    intervals = _intervals(run, notes)
    documents = _documents(run, draft, notes)
    submission, own = _sealed(draft.model_copy(update={"intervals": intervals}), documents)
    checked = validate(upload_bytes(submission, own))
    if checked.submission is None:
        raise RefusedError(checked.problems)
    return Built(checked.submission, checked.documents, tuple(notes))


def _ours(collection: Collection, where: str) -> tuple[RunRecord, list[str]]:
    """All runs as one, and what was left out of it."""
    notes = collection.left_out()
    tasks: dict[str, TaskRecord] = {}
    for run in collection.runs:
        for name, record in run.tasks.items():
            if record.layout == "lm_eval_ita" and record.suite in BOARD_SUITES:
                tasks[name] = record
            elif record.layout == "lm_eval_ita":
                notes.append(f"{name}: left out, the leaderboard has no table for it")
            else:
                notes.append(f"{name}: left out, it is no task of ItaEval or ItaP-AT as installed here")
    if not tasks:
        raise UserError("holds no task of ItaEval or ItaP-AT", file=where)
    runs = collection.runs
    newest = runs[-1]  # of one model, runs are in the order of their dates
    hardware = {name: _joined(getattr(run.hardware, name) for run in runs) for name in Hardware.model_fields}
    seconds = [run.run_seconds for run in runs]
    merged = RunRecord(
        model=newest.model,
        software={name: _joined(run.software.get(name) for run in runs) or "" for name in newest.software},
        hardware=Hardware(**hardware),
        date=newest.date,
        run_seconds=None if None in seconds else sum(second or 0.0 for second in seconds),
        batch_size=_joined(run.batch_size for run in runs),
        rescored=any(run.rescored for run in runs),
        source=newest.source,
        tasks=tasks,
    )
    return merged, notes


def _joined(values: Iterator[str | None]) -> str | None:
    return ", ".join(dict.fromkeys(value for value in values if value)) or None


def _stripped(run: RunRecord, facts: ModelFacts) -> RunRecord:
    """The run without anything of the machine, and of each task only what the suite does not know."""
    known = references()
    own = {file.name: dict(file.config.get("generation_kwargs", {})) for file in read_task_files()}
    hardware = {name: _one_line(getattr(run.hardware, name)) for name in Hardware.model_fields}
    return run.model_copy(
        update={
            "model": _identity(run.model, facts),
            "hardware": Hardware(**hardware),
            "source": Path(SOURCE),
            "tasks": {
                name: _task(record, known[name], own[name]) if name in known else record
                for name, record in run.tasks.items()
            },
        }
    )


def _identity(model: ModelIdentity, facts: ModelFacts) -> ModelIdentity:
    changes = {
        "name": facts_name(facts) if _is_local(model.name) else model.name,
        "adapter": None
        if model.adapter is None
        else _last(model.adapter)
        if _is_local(model.adapter)
        else model.adapter,
        # Of packed weights the argument may be a file.
        "quantisation": None if model.quantisation is None else _LOCAL.sub(_last_of, model.quantisation),
    }
    return model.model_copy(update=changes)


def _is_local(name: str) -> bool:
    return MODEL_NAME.fullmatch(name) is None or Path(name).exists()


def facts_name(facts: ModelFacts) -> str:
    """A model's name where it was a folder: its display name in plain letters."""
    plain = unicodedata.normalize("NFKD", facts.display_name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.") or "model"


def _last(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", re.split(r"[/\\]", path.rstrip("/\\"))[-1]).strip("-.") or "adapter"


def _last_of(match: re.Match[str]) -> str:
    return _last(match[0])


def _one_line(text: str | None) -> str | None:
    return None if text is None else " ".join(re.sub(r"[<>`]", " ", text.replace("\n", "; ")).split())[:300]


def _task(record: TaskRecord, reference: Reference, own: Mapping[str, Any]) -> TaskRecord:
    missing = object()
    changes = {
        "category": reference.category,
        "title": reference.title,
        "text_origin": reference.origin,
        "chance_level": reference.chance,
        "deviations": (),
        "samples": None,
        "stderrs": {name: error for name, error in record.stderrs.items() if error is not None},
        "gen_kwargs": {name: value for name, value in record.gen_kwargs.items() if own.get(name, missing) != value},
    }
    return record.model_copy(update=changes)


def _cost(runs: Sequence[RunRecord]) -> dict[str, float | None]:
    """What the runs cost together; peaks are the highest, the rest adds up. Nothing where a run did not count."""
    totals: dict[str, float | None] = {}
    for number, run in enumerate(runs):
        own = load_results(run.source).get("lm_eval_ita")
        cost = own.get("total_cost") if isinstance(own, dict) else None
        figures = {name: as_number(cost.get(name)) for name in COSTS} if isinstance(cost, dict) else {}
        for name in COSTS:
            value, so_far = figures.get(name), totals.get(name)
            if number == 0:
                totals[name] = value
            elif value is None or so_far is None:
                totals[name] = None
            else:
                totals[name] = max(value, so_far) if name.startswith("peak_") else value + so_far
    return {name: value for name, value in totals.items() if value is not None}


def _rescore(runs: Sequence[RunRecord]) -> None:
    """Compute every figure again, and refuse another one."""
    for run in runs:
        for task in rescore_run(run, load_results(run.source)):
            if task.problem is not None:
                raise UserError(f"{task.task}: cannot be computed again: {task.problem}")
            if task.note is not None:
                raise UserError(f"{task.task}: {task.metric} cannot be computed again without its scorer: {task.note}")
            for metric, old, new in _differing(task):
                raise UserError(
                    f"{task.task}: {metric} is {_shown(old)} in {run.source.name}, and {_shown(new)} from its samples; "
                    "evaluate again, or `lm-eval-ita rescore --output` if metrics have changed since"
                )


def _differing(task: Rescored) -> Iterator[tuple[str, Any, Any]]:
    """Each figure that is another one, with its place among the task's figures."""
    scored = (task.metric, "score") if task.metric in SCORERS else ()
    tolerances = dict.fromkeys(_RESAMPLED, _RESAMPLING_TOLERANCE) | dict.fromkeys(scored, _SCORER_TOLERANCE)
    for key in dict.fromkeys([*task.new, *task.old]):
        metric = key.partition(",")[0]
        # Standard errors follow their metrics; a scorer's parts also tell its device.
        if not metric.endswith("_stderr") and not (scored and metric == f"{task.metric}_parts"):
            yield from _unlike((metric,), task.old.get(key), task.new.get(key), tolerances)


def _unlike(
    path: tuple[str, ...], old: object, new: object, tolerances: Mapping[str, float]
) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping) and old.keys() == new.keys():
        for key in old:
            yield from _unlike((*path, str(key)), old[key], new[key], tolerances)
        return
    one, two, allowed = as_number(old), as_number(new), tolerances.get(path[-1])
    if allowed is not None and one is not None and two is not None:
        # An instruction has a fifth of the answers, and its resamples larger steps.
        is_alike = abs(one - two) <= allowed * (1 if len(path) == 1 else 4)
    else:
        is_alike = same(old, new)
    if not is_alike:
        yield ".".join(path), old, new


def _shown(value: object) -> str:
    number = as_number(value)
    return f"{number:.6g}" if number is not None else "another value" if isinstance(value, Mapping) else str(value)[:40]


def _intervals(run: RunRecord, notes: list[str]) -> dict[str, tuple[float, float]]:
    from lm_eval_ita.report.estimates import estimates

    known, found = references(), {}
    for table in suite_tables([run], known):
        made = estimates(table)
        notes += made.remarks
        for (_, column), estimate in made.cells.items():
            cell = table.rows[0].cells[column]
            if estimate.low is None or estimate.high is None or len(cell.records) != 1:
                continue
            record = cell.records[0]
            lowest, highest = known[record.task].bounds
            # A normal interval may reach further than the metric.
            bounds = max(lowest, estimate.low), min(highest, estimate.high)
            if interval_problem(record, *bounds) is None:
                found[record.name] = bounds
    return found


def _documents(run: RunRecord, draft: Submission, notes: list[str]) -> dict[str, TaskDocuments]:
    found = {}
    for name, record in run.tasks.items():
        own = task_documents(record)
        if own is None:
            continue
        # Samples keep the values of their day: after a rescore they are others.
        wrong = next(document_problems(draft, Documents(submission_id="0" * 16, tasks={name: own})), None)
        if wrong is None:
            found[name] = own
        else:
            notes.append(f"{name}: no paired tests: {wrong.message}")
    return found


def _sealed(draft: Submission, tasks: Mapping[str, TaskDocuments]) -> tuple[Submission, Documents | None]:
    """With the hashes."""
    sha = documents_hash(Documents(submission_id="0" * 16, tasks=dict(tasks))) if tasks else None
    submission = draft.model_copy(update={"documents_sha": sha})
    name = submission_hash(submission)
    documents = Documents(submission_id=name, tasks=dict(tasks)) if tasks else None
    return submission.model_copy(update={"submission_id": name}), documents
