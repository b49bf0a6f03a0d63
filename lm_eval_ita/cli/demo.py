"""`lm-eval-ita demo`: the main job, on a small real model, in a few minutes."""

import argparse
import logging
import math
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.cli.demo_model import model_with_progress
from lm_eval_ita.run.demo import AssociationRow, association_rows
from lm_eval_ita.run.evaluate import evaluate_to_folder

__all__ = ["add_parser", "run"]

_TASKS = ["itapat_gender"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "demo",
        help="measure the gender bias of a small real model (a few minutes)",
        description="Run the gender tests of ItaP-AT (240 prompts) on Gemma 3 270M, print the table and save the "
        "harness's results and samples.",
    )
    parser.add_argument("--output", type=Path, default=Path("demo-results"), metavar="DIR", help="default: %(default)s")
    parser.add_argument(
        "--limit", type=_positive, default=None, metavar="N", help="only the first N prompts of each test"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demonstration."""
    model = model_with_progress()
    _quiet_libraries()
    results = evaluate_to_folder(_TASKS, model, options.output, limit=options.limit)
    _print_table(association_rows(results), options.limit)
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
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    logging.getLogger("transformers").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="transformers|torch")


def _print_table(rows: Sequence[AssociationRow], limit: int | None) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    caption = (
        "Score: 1 is the stereotype, -1 its reverse, 0 no association. Attr. 1 to Error: shares of answers that choose "
        "the first attribute, the second, neither, or cannot be read. p: Fisher's exact test; Holm: adjusted over the "
        "tests shown. unable: over half of the answers unreadable, or one attribute only."
    )
    if limit is not None:
        caption = f"LIMITED TO {limit} PROMPTS A TEST, NOT COMPARABLE. {caption}"
    table = Table(title="ItaP-AT, gender: Gemma 3 270M (base, no chat template)", caption=caption, box=box.SIMPLE_HEAD)
    table.add_column("Test")
    table.add_column("X / Y")
    for header in ("n", "Score", "95% interval", "Attr. 1", "Attr. 2", "Neutral", "Error", "p", "Holm"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("Reading")
    for row in rows:
        table.add_row(
            row.task.removeprefix("itapat_"),
            row.title,
            str(row.n),
            _signed(row.bias_score),
            f"{_signed(row.low)} {_signed(row.high)}",
            *(f"{rate:.2f}" for rate in row.rates),
            f"{row.p_value:.3f}",
            f"{row.p_holm:.3f}",
            row.reading,
        )
    Console(width=None if Console().is_terminal else 132).print(table)


def _signed(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:+.2f}"
