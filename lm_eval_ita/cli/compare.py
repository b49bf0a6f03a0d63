"""`lm-eval-ita compare`: two runs, document by document."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.collect import collect
from lm_eval_ita.results.grid import Grid, displayed, plain
from lm_eval_ita.results.labels import model_labels
from lm_eval_ita.results.records import RunRecord, TaskRecord

if TYPE_CHECKING:
    from lm_eval_ita.results.compare import Compared, Comparison
    from lm_eval_ita.results.table9 import OneShotRow

__all__ = ["add_parser", "run"]

_ALPHA = 0.05
_TABLE_NOTES = (
    "95%: paired bootstrap (ItaP-AT: by target word). p: McNemar's exact test where a document is right or wrong, else "
    "exchanging the runs' answers (ItaP-AT: word by word). Holm: p adjusted over all tasks compared.",
)


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "compare",
        help="compare two runs document by document: difference, interval, paired test",
        description="Tasks, versions, shots and documents must be the same; what differs is named and left out. Needs "
        "the samples (--log_samples). ItaP-AT run with standard and one-shot prompts also gives Table 9's differences.",
    )
    for name in ("A", "B"):
        parser.add_argument(name.lower(), type=Path, metavar=name, help="a results file, or a folder with one model's")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the comparison; 1 where a task or a file had to be left out."""
    # SciPy takes a second to import: only here.
    from lm_eval_ita.results.compare import compare, one_model
    from lm_eval_ita.results.table9 import one_shot_rows

    found = [collect([path]) for path in (options.a, options.b)]
    problems = [line for collection in found for line in collection.problems]
    tasks = [one_model(c.runs, str(path)) for c, path in zip(found, (options.a, options.b), strict=True)]
    first, second = (collection.runs[0] for collection in found)
    comparison = compare(tasks[0], tasks[1])
    table9 = {}
    for label, own in _models(first, second, tasks).items():
        if rows := one_shot_rows(own):
            table9[label] = rows
    for name, why in comparison.refused.items():
        print(f"not compared: {name}: {why}", file=sys.stderr)
    for line in problems:
        print(f"skipped: {line}", file=sys.stderr)
    if not comparison.tasks and not table9:
        raise UserError("nothing can be compared: the two runs share no task with the same documents")
    if options.json:
        print(json.dumps(_json(comparison, table9), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _print(comparison, table9, (first, second), tasks)
    return int(bool(comparison.refused or problems))


def _models(
    first: RunRecord, second: RunRecord, tasks: Sequence[dict[str, TaskRecord]]
) -> dict[str, dict[str, TaskRecord]]:
    """The tasks of each model: of both runs together where they are of one model."""
    if first.model.key == second.model.key:
        return {"A and B" if tasks[0] != tasks[1] else "A": {**tasks[1], **tasks[0]}}
    return {"A": tasks[0], "B": tasks[1]}


def _print(
    comparison: "Comparison",
    table9: dict[str, "list[OneShotRow]"],
    runs: tuple[RunRecord, RunRecord],
    tasks: Sequence[dict[str, TaskRecord]],
) -> None:
    if any(record.data == "sample" for own in tasks for record in own.values()):
        print("SAMPLE DATA, NOT COMPARABLE")
    labels = model_labels([run.model for run in runs])
    for name, label, run_record in zip("AB", labels, runs, strict=True):
        print(f"{name}: {displayed(label, 80)} ({run_record.source})")
    itaeval = [task for task in comparison.tasks if task.suite != "itapat"]
    itapat = [task for task in comparison.tasks if task.suite == "itapat"]
    made = [_grid("Scores x 100, higher is better", itaeval, 100)] if itaeval else []
    made += [_grid("ItaP-AT bias scores: 1 the stereotype, -1 its reverse", itapat, 1)] if itapat else []
    for position, grid in enumerate(made, start=1):
        notes = _TABLE_NOTES if position == len(made) else ()
        print(f"\n{plain(Grid(grid.title, grid.header, grid.rows, notes, grid.left))}")
    if comparison.tasks:
        print("\n" + "\n".join(_sentence(task, len(comparison.tasks)) for task in comparison.tasks))
    for label, rows in table9.items():
        print(f"\n{plain(_table9_grid(label, rows))}")
    for name, only in (("A", comparison.only_first), ("B", comparison.only_second)):
        if only:
            print(f"only in {name}: {', '.join(displayed(task) for task in only)}", file=sys.stderr)


def _grid(title: str, tasks: "Sequence[Compared]", scale: int) -> Grid:
    rows = tuple(
        (
            displayed(task.task),
            task.metric,
            str(task.n),
            _number(task.first, scale),
            _number(task.second, scale),
            _signed(task.difference, scale),
            _interval(task.low, task.high, scale),
            _p(task.p_value),
            _p(task.p_holm),
            task.test,
        )
        for task in tasks
    )
    header = ("Task", "Metric", "n", "A", "B", "B - A", "95% interval", "p", "Holm", "Test")
    return Grid(title, header, rows, left=2)


def _sentence(task: "Compared", count: int) -> str:
    name = displayed(task.task.removeprefix("itaeval_").removeprefix("itapat_"))
    if task.equal:
        return f"{name}: the two runs score every document alike."
    if task.difference is None:
        return f"{name}: a score is missing."
    if task.p_holm is None:
        why = "no scores by document" if task.test == "none" else "too few documents"
        return f"{name}: B - A is {_signed(task.difference, 100)} points; {why} for a test."
    unit, scale = ("", 1) if task.suite == "itapat" else (" points", 100)
    within = "" if task.low is None else f"95% interval {_interval(task.low, task.high, scale).replace(' ', ' to ')}, "
    holm = f" after Holm's correction over {count} tasks" if count > 1 else ""
    evidence = f"({_signed(task.difference, scale)}{unit}, {within}p = {_p(task.p_holm)}{holm})".replace("= <", "<")
    if task.p_holm >= _ALPHA or task.difference == 0:
        return f"{name}: no difference between A and B is shown {evidence}."
    if task.suite == "itapat":
        direction = "further towards" if task.difference > 0 else "further away from"
        return f"{name}: B answers {direction} the stereotype than A {evidence}."
    return f"{name}: B is {'better' if task.difference > 0 else 'worse'} than A {evidence}."


def _table9_grid(label: str, rows: "Sequence[OneShotRow]") -> Grid:
    body = [
        (
            row.test,
            _signed(row.standard, 1),
            _signed(row.oneshot, 1),
            _signed(row.difference, 1),
            _interval(row.low, row.high, 1),
            _p(row.p_value),
            _p(row.p_holm),
            _signed(row.absolute, 1),
            "lower" if round(row.absolute, 9) > 0 else "higher" if round(row.absolute, 9) < 0 else "equal",
        )
        for row in rows
    ]
    n = len(rows)
    means = (_signed(sum(getattr(row, name) for row in rows) / n, 1) for name in ("difference", "absolute"))
    signed, absolute = means
    body.append(("Avg", "", "", signed, "", "", "", absolute, ""))
    header = ("Test", "Standard", "One-shot", "Difference", "95% interval", "p", "Holm", "In |s|", "|s| is")
    notes = (
        "Difference: standard - one-shot, the paper's Table 9, with interval and p by target word. In |s|: "
        "|standard| - |one-shot|. Only a drop in |s| is a reduction of bias: a signed difference may be a bias that "
        "turned round.",
    )
    return Grid(f"One-shot anti-stereotypical prompts, {label}", header, tuple(body), notes, rules=(n,))


def _number(value: float | None, scale: int) -> str:
    if value is None:
        return "n/a"
    return _signed(value, 1) if scale == 1 else f"{scale * value:.2f}"


def _signed(value: float | None, scale: int) -> str:
    return "n/a" if value is None else f"{round(scale * value, 2) + 0.0:+.2f}"


def _interval(low: float | None, high: float | None, scale: int) -> str:
    return "n/a" if low is None or high is None else f"{_signed(low, scale)} {_signed(high, scale)}"


def _p(value: float | None) -> str:
    return "n/a" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _json(comparison: "Comparison", table9: dict[str, "list[OneShotRow]"]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "tasks": [
            {
                **vars(task),
                "words": [
                    {"side": side, "word": word, "first": one, "second": two, "difference": two - one}
                    for (side, word), (one, two) in task.words.items()
                ],
                "sentence": _sentence(task, len(comparison.tasks)),
            }
            for task in comparison.tasks
        ],
        "refused": dict(comparison.refused),
        "only_first": list(comparison.only_first),
        "only_second": list(comparison.only_second),
        "one_shot": {label: [vars(row) for row in rows] for label, rows in table9.items()},
    }
