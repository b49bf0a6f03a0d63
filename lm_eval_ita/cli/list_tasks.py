"""`lm-eval-ita list`: every task and group of ours."""

import argparse
import json
from typing import Any

from lm_eval_ita.harness.task_files import TaskFile, read_task_files

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "list", help="list the tasks and groups", description="Every task and group of ours."
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the tasks and the groups, as tables or as JSON."""
    files = read_task_files()
    if options.json:
        print(json.dumps([_record(file) for file in files], indent=2, ensure_ascii=False))
    else:
        _print_tables(files)
    return 0


def _record(file: TaskFile) -> dict[str, Any]:
    if file.card is None:
        return {"name": file.name, "kind": file.kind, "members": list(file.members)}
    return {
        "name": file.name,
        "kind": file.kind,
        "suite": file.card.suite,
        "category": file.card.category,
        "title": (file.card.model_extra or {}).get("title"),
        "shots": file.config.get("num_fewshot"),
        "metric": file.card.primary_metric,
        "origin": file.card.origin,
        "dataset": file.card.dataset,
        "chance": file.card.chance,
        "prompts": (file.card.model_extra or {}).get("prompts"),
        "version": file.card.version,
        "paper": file.card.paper,
        "deviations": list(file.card.deviations),
    }


def _print_tables(files: list[TaskFile]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    tasks = Table("Task", "Suite", "Category", "Shots", "Metric", "Origin", box=box.SIMPLE_HEAD, title="Tasks")
    groups = Table("Group", "Holds", box=box.SIMPLE_HEAD, title="Groups")
    for file in files:
        if file.card is None:
            groups.add_row(file.name, ", ".join(file.members))
        else:
            shots = str(file.config.get("num_fewshot", "?"))
            card = file.card
            tasks.add_row(file.name, card.suite, card.category, shots, card.primary_metric, card.origin)
    console = Console(soft_wrap=False)
    console.print(tasks)
    console.print(groups)
