"""`lm-eval-ita new-task`: a task from a data set, by flags or by questions."""

import argparse
import sys
import textwrap
from pathlib import Path
from typing import Any

from lm_eval_ita.cli._quiet import quiet

__all__ = ["add_parser", "run"]

_KINDS = ("multiple_choice", "yes_no", "generation", "association")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "new-task",
        help="make a task from a data set",
        description="Write a task file with its card, the data set's catalogue entry, ten sample rows where the "
        "licence allows, and a test. What no flag says is asked at a terminal; elsewhere it is an error that names the "
        "flag. docs/adding_tasks.md walks through it.",
    )
    parser.add_argument("name", metavar="NAME", help="the task's name: letters, digits, underscores")
    parser.add_argument("--kind", required=True, choices=_KINDS)
    parser.add_argument(
        "--data",
        required=True,
        metavar="PATH|OWNER/NAME",
        help="a file, a folder of splits, or a repository of the Hub; a list file for associations",
    )
    parser.add_argument("--into", type=Path, default=Path(), metavar="DIR", help="where to write it (default: here)")
    parser.add_argument("--config", metavar="NAME", help="which configuration of a repository")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    _add_columns(parser.add_argument_group("columns"))
    splits = parser.add_argument_group("splits and prompts")
    splits.add_argument("--split", metavar="NAME", help="the split that is evaluated")
    splits.add_argument("--fewshot-split", metavar="NAME", help="the split that examples come from")
    splits.add_argument("--shots", type=int, metavar="N", help="examples a prompt")
    splits.add_argument("--instruction", metavar="TEXT", help="the Italian question or request before the text")
    splits.add_argument("--metric", choices=("exact_match", "rougeL"), help="of a task that generates")
    splits.add_argument("--max-gen-toks", type=int, metavar="N", help="of a task that generates")
    lists = parser.add_argument_group("association tests")
    lists.add_argument("--x", metavar="LIST", help="the list whose stereotype is the first attribute")
    lists.add_argument("--y", metavar="LIST", help="the other list")
    lists.add_argument(
        "--instructions", metavar="SET", help="the questions: a set of lm_eval_ita/itapat/data/tests.yaml"
    )
    card = parser.add_argument_group("card and licence")
    card.add_argument("--origin", metavar="HOW", help="native, human_translated, machine_translated or template")
    card.add_argument("--title", metavar="TEXT", help="of the data set")
    card.add_argument("--paper", metavar="TEXT", help="where the data come from")
    card.add_argument("--licence", metavar="TEXT", help="of the data")
    card.add_argument(
        "--keep-samples",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether its licence allows copies of ten rows",
    )
    parser.set_defaults(run=run)


def _add_columns(columns: Any) -> None:
    columns.add_argument("--question", metavar="COLUMN", help="the text that is asked about")
    columns.add_argument("--context", metavar="COLUMN", help="a passage before it")
    columns.add_argument("--choices", metavar="COLUMN[,...]", help="the options: one column of lists, or a column each")
    columns.add_argument("--label", metavar="COLUMN", help="the right option, or the label")
    columns.add_argument("--counted", choices=("zero", "one", "letter", "text"), help="how the label names an option")
    columns.add_argument(
        "--labels", metavar="VALUE[=WORD],...", help="fixed options: the label's values, and their words in the prompt"
    )
    columns.add_argument("--yes", metavar="VALUE", help="the label's value that means Sì")
    columns.add_argument("--answer", metavar="COLUMN", help="the right answer of a task that generates")


def run(options: argparse.Namespace) -> int:
    """Make the task, check it, and say how to run it; 1 where the check finds an error."""
    terminal = sys.stdin.isatty()
    with quiet():
        from lm_eval_ita.authoring.new_task import Asker, Request, new_task

        given = {name: value for name, value in vars(options).items() if name not in ("run", "command")}
        made = new_task(Request(**given), Asker(input if terminal else None))
    for path in made.files:
        print(f"wrote {path}")
    print(f"the first prompt:\n{textwrap.indent(made.example, '    ')}")
    for finding in made.checked.findings:
        print(finding)
    if not made.checked.findings:
        print("validate: no finding")
    where = f"--include_path {options.into} --tasks {options.name}"
    print(f"try it: lm-eval-ita run {where} --model_args pretrained=MODEL --limit 10")
    return 1 if made.checked.errors else 0
