"""`lm-eval-ita demo-model`: a small real model, ready for the harness."""

import argparse
import sys
from pathlib import Path
from typing import Any

from lm_eval_ita.run.demo_model import demo_model

__all__ = ["add_parser", "model_with_progress", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "demo-model",
        help="print the folder of the demo model (Gemma 3 270M)",
        description="Print the folder of Gemma 3 270M, which is converted on the first call from the wheels of the "
        "'demo' extra (a minute or two, 1.1 GB in the user cache, or in $LM_EVAL_ITA_CACHE). Use it as "
        "pretrained=FOLDER.",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the folder."""
    print(model_with_progress())
    return 0


def model_with_progress() -> Path:
    """The demo model's folder; while it is made, a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        steps: set[str] = set()

        def say(step: str, done: float, total: float | None) -> None:
            if step not in steps:
                steps.add(step)
                print(f"demo model: {step} ...", file=sys.stderr)

        return demo_model(say)
    columns = (TextColumn("[bold]Demo model[/] {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("", total=None)
        return demo_model(lambda step, done, total: bars.update(bar, description=step, completed=done, total=total))
