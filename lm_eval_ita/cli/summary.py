"""`lm-eval-ita summary`: the paper's tables from result files."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from lm_eval_ita._gc import no_collections
from lm_eval_ita.errors import UserError
from lm_eval_ita.results.collect import Collection, collect
from lm_eval_ita.results.exclude import read_exclusions, sensitivities, sensitivity_grid
from lm_eval_ita.results.grid import Grid, markdown, plain
from lm_eval_ita.results.latex import latex
from lm_eval_ita.results.other_tasks import other_tasks_grid, other_tasks_json
from lm_eval_ita.results.published import published_by_suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.suite import SuiteTable, suite_tables
from lm_eval_ita.results.summary import as_csv, as_json, grids

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "summary",
        help="the suites' tables from result files",
        description="Category means, the average and every task, for one or many models. An average is printed only "
        "when all of its tasks are there; limited runs, sample data and other task versions are marked and not ranked.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="result files, or folders with them")
    parser.add_argument(
        "--format", choices=("table", "json", "csv", "latex", "markdown"), default="table", help="default: %(default)s"
    )
    parser.add_argument("--with-published", action="store_true", help="also the figures printed in the papers, marked")
    parser.add_argument(
        "--exclude",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="scores without rows that an audit found wrong",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the tables; 1 where a file could not be read, 0 otherwise."""
    # Records hold no cycles, and looking for some among those of a thousand files takes a third of the time.
    with no_collections():
        return _summary(options)


def _summary(options: argparse.Namespace) -> int:
    found = collect(options.paths, details=bool(options.exclude))
    exclusions = [read_exclusions(path) for path in options.exclude]
    tables = suite_tables(found.runs, references(), published_by_suite() if options.with_published else {})
    if options.format == "json":
        excluded = {"excluded": [vars(one) for one in sensitivities(found.runs, exclusions)]} if exclusions else {}
        print(json.dumps({**_json(found, tables), **excluded}, indent=1, ensure_ascii=False, allow_nan=False))
    elif options.format == "csv" and exclusions:
        raise UserError("--exclude has no CSV; use --format json")
    elif options.format == "csv":
        print(as_csv(tables))
    else:
        made = [grid for table in tables for grid in grids(table)]
        others = other_tasks_grid(found.runs)
        made += [others] if others is not None else []
        made += [sensitivity_grid(sensitivities(found.runs, exclusions))] if exclusions else []
        _print_grids(made, options.format)
    _print_remarks(found, tables, options.format)
    return 1 if found.problems else 0


def _json(found: Collection, tables: tuple[SuiteTable, ...]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "suites": as_json(tables),
        "other_tasks": other_tasks_json(found.runs),
        "superseded": [
            {"task": left.task, "source": str(left.source), "by": str(left.by), "why": left.why}
            for left in found.superseded
        ],
        "problems": list(found.problems),
    }


def _print_grids(made: list[Grid], form: str) -> None:
    if form == "latex" and made:
        print("% needs \\usepackage{booktabs,longtable} and UTF-8 input")
    render = {"table": plain, "markdown": markdown, "latex": latex}[form]
    print("\n\n".join(render(grid) for grid in made))


def _print_remarks(found: Collection, tables: tuple[SuiteTable, ...], form: str) -> None:
    """What was left out, on stderr: the tables may be piped into a file."""
    for line in found.left_out():
        print(f"note: {line}", file=sys.stderr)
    for line in found.problems:
        print(f"skipped: {line}", file=sys.stderr)
    others = {name for run in found.runs for name, record in run.tasks.items() if record.suite is None}
    if others and form == "csv":
        print(f"note: {len(others)} tasks are of neither suite and have no CSV; use --format json", file=sys.stderr)
    if not tables and not others:
        print("nothing to show: no task in what could be read", file=sys.stderr)
