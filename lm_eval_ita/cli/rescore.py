"""`lm-eval-ita rescore`: recompute every metric from logged samples, without a model."""

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita._version import __version__
from lm_eval_ita.errors import UserError
from lm_eval_ita.results.grid import Grid, displayed, plain
from lm_eval_ita.results.reader import load_results, run_record
from lm_eval_ita.run.rescore import Rescored, new_content, rescore_run, same

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "rescore",
        help="recompute metrics from logged samples, without a model",
        description="Applies today's answer parser and metrics to the answers that a run logged (--log_samples), and "
        "prints the old figures beside the new ones. Metrics of a scorer model are recomputed where it is there.",
    )
    parser.add_argument("path", type=Path, metavar="RESULTS", help="a results_*.json with its samples beside it")
    parser.add_argument(
        "--output",
        type=Path,
        nargs="?",
        const=Path(),
        metavar="FILE",
        help="write a results file with the new figures (without FILE: results_rescored_*.json beside the old one)",
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if any figure differs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print old and new figures; 1 where a task could not be rescored or, with --check, a figure differs."""
    content = load_results(options.path)
    record_of_run = run_record(content, options.path)
    rescored = list(rescore_run(record_of_run, content))
    if not rescored:
        raise UserError("holds no task of ItaEval or ItaP-AT", file=options.path)
    if any(record.data == "sample" for record in record_of_run.tasks.values()):
        print("SAMPLE DATA, NOT COMPARABLE")
    print(plain(_grid(rescored)))
    for task in rescored:
        if task.note:
            print(f"note: {task.task}: {', '.join(task.without_scorer)} missing: {task.note}", file=sys.stderr)
        if task.problem:
            print(f"not rescored: {task.task}: {task.problem}", file=sys.stderr)
    if options.output is not None:
        _write(_target(options.output, options.path), new_content(content, rescored, __version__), options.path)
    failed = any(task.problem for task in rescored)
    return int(failed or (options.check and any(_differing(task) for task in rescored)))


def _grid(rescored: list[Rescored]) -> Grid:
    rows = []
    for task in rescored:
        if task.problem:
            rows.append((task.task, task.metric, _shown(task.old.get(f"{task.metric},none")), "", "not rescored"))
            continue
        differing = _differing(task)
        metrics = [key for key in task.new if not key.partition(",")[0].endswith("_stderr")]
        equal = len(metrics) - len(differing) - len(task.without_scorer)
        if f"{task.metric},none" not in differing:
            old, new = (_shown(figures.get(f"{task.metric},none")) for figures in (task.old, task.new))
            missing = " (no scorer)" if task.without_scorer else ""
            rows.append((task.task, task.metric, old, new, f"{equal} metrics equal{missing}"))
        for key in differing:
            name = key.removesuffix(",none")
            rows.append((task.task, name, _shown(task.old.get(key)), _shown(task.new.get(key)), "DIFFERS"))
    total = sum(len(_differing(task)) for task in rescored)
    notes = (f"Metrics that differ: {total}.",)
    return Grid("Rescored from samples", ("Task", "Metric", "Old", "New", ""), tuple(rows), notes, left=2)


def _differing(task: Rescored) -> list[str]:
    """The metrics whose values differ; their standard errors follow."""
    keys = [key for key in dict.fromkeys([*task.new, *task.old]) if not key.partition(",")[0].endswith("_stderr")]
    compared = [key for key in keys if key.partition(",")[0] not in task.without_scorer]
    return [] if task.problem else [key for key in compared if not same(task.old.get(key), task.new.get(key))]


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None or (isinstance(value, float) and math.isnan(value)):
        return "n/a"
    if isinstance(value, int | float):
        return f"{value:.4f}"
    return "(parts)" if isinstance(value, Mapping) else displayed(str(value), 30)


def _target(output: Path, source: Path) -> Path:
    if output != Path():
        return output
    # The harness's date stays the end of the name: that is how the samples are found.
    return source.with_name(f"results_rescored_{source.name.removeprefix('results_')}")


def _write(target: Path, content: Mapping[str, Any], source: Path) -> None:
    if target.resolve() == source.resolve():
        raise UserError("is the file that is being rescored; name another one", file=target)
    write_whole(target, json.dumps(_without_nan(content), indent=2, ensure_ascii=False, allow_nan=False))
    print(f"written: {target}", file=sys.stderr)


def _without_nan(value: Any) -> Any:
    """What is missing is null in JSON."""
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
