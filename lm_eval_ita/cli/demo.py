"""`lm-eval-ita demo`: the main job, on a small real model, in a few minutes."""

import argparse
import logging
import os
import warnings
from pathlib import Path
from typing import Any

from lm_eval_ita.cli.demo_model import model_with_progress
from lm_eval_ita.results.grid import Grid
from lm_eval_ita.results.reader import read_run
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.suite import suite_tables
from lm_eval_ita.results.summary import grids
from lm_eval_ita.run.demo import tasks_without_scorer
from lm_eval_ita.run.evaluate import evaluate_to_folder

__all__ = ["add_parser", "run"]

_MODEL = "Gemma 3 270M (base, no chat template)"


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "demo",
        help="measure the gender bias of a small real model (a few minutes)",
        description="Run the gender tests of ItaP-AT (240 prompts) on Gemma 3 270M, or with --suite itaeval the "
        "ItaEval tasks on sample rows; print the table and save the harness's results and samples.",
    )
    parser.add_argument("--suite", choices=("itapat", "itaeval"), default="itapat", help="default: %(default)s")
    parser.add_argument("--output", type=Path, default=Path("demo-results"), metavar="DIR", help="default: %(default)s")
    parser.add_argument("--limit", type=_positive, default=None, metavar="N", help="only the first N rows of each task")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    model = model_with_progress()
    _quiet_libraries()
    if options.suite == "itapat":
        _show(_grid(evaluate_to_folder(["itapat_gender"], model, options.output, limit=options.limit)))
    else:
        tasks, needs = tasks_without_scorer()
        print("SAMPLE DATA, NOT COMPARABLE: a few rows a task, written for this project.")
        saved = evaluate_to_folder(
            tasks, model, options.output, limit=options.limit, batch_size=8, metadata={"data_dir": "sample"}
        )
        _show(_grid(saved))
        for task, scorer in needs.items():
            print(f"Not run: {task} needs the model {scorer}.")
    print(f"Results and samples: {options.output}")
    return 0


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not 1 or more")
    return value


def _quiet_libraries() -> None:
    """Leave the progress bars of the run; drop what the libraries would log around them."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    for name in ("lm_eval", "lm_eval_ita", "transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="transformers|torch")


def _grid(saved: Path) -> Grid:
    """The table of the results, as `lm-eval-ita summary` makes it."""
    run = read_run(saved)
    named = run.model_copy(update={"model": run.model.model_copy(update={"name": _MODEL})})
    (table,) = suite_tables([named], references())
    (grid,) = grids(table)
    return grid


def _show(grid: Grid) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Text objects: what stands in square brackets is no markup.
    table = Table(title=Text(grid.title), caption=Text("\n".join(grid.notes)), box=box.SIMPLE_HEAD)
    for position, head in enumerate(grid.header):
        is_text = position < grid.left
        table.add_column(Text(head), justify="left" if is_text else "right", no_wrap=not is_text and len(head) < 16)
    for position, row in enumerate(grid.rows, start=1):
        table.add_row(*map(Text, row), end_section=position in grid.rules)
    # Where there is no terminal (a log, CI), a width that holds the widest table.
    Console(width=None if Console().is_terminal else 132).print(table)
