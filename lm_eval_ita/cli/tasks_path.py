"""`lm-eval-ita tasks-path`: the folder with our task files."""

import argparse
from typing import Any

from lm_eval_ita.harness.task_files import tasks_path

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "tasks-path",
        help="print the folder with the task files",
        description='The folder with the task files, for lm_eval --include_path "$(lm-eval-ita tasks-path)". An '
        "installed lm-eval-ita needs this only where lm_eval itself is an editable checkout.",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the folder."""
    print(tasks_path())
    return 0
