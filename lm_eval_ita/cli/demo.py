"""`lm-eval-ita demo`: the main job, on a small real model, in a few minutes."""

import argparse
import logging
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.cli.demo_model import model_with_progress
from lm_eval_ita.run.demo import AssociationRow, ScoreRow, association_rows, score_rows, tasks_without_scorer
from lm_eval_ita.run.evaluate import evaluate_to_folder

__all__ = ["add_parser", "run"]

_MODEL = "Gemma 3 270M (base, no chat template)"
_SAMPLE = "SAMPLE DATA, NOT COMPARABLE"


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
        results = evaluate_to_folder(["itapat_gender"], model, options.output, limit=options.limit)
        _print_associations(association_rows(results), options.limit)
    else:
        tasks, needs = tasks_without_scorer()
        print(f"{_SAMPLE}: a few rows a task, written for this project.")
        results = evaluate_to_folder(
            tasks, model, options.output, limit=options.limit, batch_size=8, metadata={"data_dir": "sample"}
        )
        _print_scores(score_rows(results), needs)
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


def _print_associations(rows: Sequence[AssociationRow], limit: int | None) -> None:
    caption = (
        "Score: 1 is the stereotype, -1 its reverse, 0 no association. Attr. 1 to Error: shares of answers that choose "
        "the first attribute, the second, neither, or cannot be read. p: Fisher's exact test; Holm: adjusted over the "
        "tests shown. unable: over half of the answers unreadable, or one attribute only."
    )
    if limit is not None:
        caption = f"LIMITED TO {limit} PROMPTS A TEST, NOT COMPARABLE. {caption}"
    table = _table(f"ItaP-AT, gender: {_MODEL}", caption)
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
    _show(table)


def _print_scores(rows: Sequence[ScoreRow], needs: Mapping[str, str]) -> None:
    table = _table(
        f"ItaEval on sample rows: {_MODEL}",
        f"{_SAMPLE}. Score: the metric beside it, higher is better (1 - honest for HONEST). Chance: guessing. "
        "Majority: always the commonest answer.",
    )
    for header in ("Task", "Category", "Metric"):
        table.add_column(header, no_wrap=True)
    for header in ("n", "Score", "Chance", "Majority"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        baselines = ("" if value is None else f"{value:.2f}" for value in (row.chance, row.majority))
        score = "n/a" if math.isnan(row.score) else f"{row.score:.2f}"
        table.add_row(row.task.removeprefix("itaeval_"), row.category, row.metric, str(row.n), score, *baselines)
    _show(table)
    for task, model in needs.items():
        print(f"Not run: {task} needs the model {model}.")


def _table(title: str, caption: str) -> Any:
    from rich import box
    from rich.table import Table

    return Table(title=title, caption=caption, box=box.SIMPLE_HEAD)


def _show(table: Any) -> None:
    from rich.console import Console

    # Where there is no terminal (a log, CI), a width that holds the widest table.
    Console(width=None if Console().is_terminal else 132).print(table)


def _signed(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:+.2f}"
