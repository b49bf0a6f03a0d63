"""`lm-eval-ita validate`: task files checked before anything is run."""

import argparse
import json
import sys
import time
from typing import Any

from lm_eval_ita._gc import no_collections
from lm_eval_ita.cli._quiet import OFFLINE, quiet

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "validate",
        help="check task files: keys, functions, prompts, labels, metrics, names",
        description="Check tasks and groups without a model or a network, and try them on rows. One line a finding: "
        "FILE:LINE: RULE: what is wrong; what to do. Exit codes: 0 none, or only warnings; 1 errors; 2 bad usage. "
        "docs/adding_tasks.md explains the rules.",
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="NAME|PATH",
        help="tasks or groups of ours, files, folders (default: all of ours)",
    )
    parser.add_argument(
        "--data", metavar="DIR", help="a data folder <key>/<split>.jsonl whose rows are tried, in place of sample rows"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check, and print what was found."""
    started = time.perf_counter()
    with quiet(OFFLINE), no_collections():  # an eighth of the time
        # Only now, with the environment set, may the libraries be imported.
        from lm_eval_ita.authoring import validate

        checked = validate(options.targets, data_dir=options.data)
    if options.json:
        print(json.dumps(checked.record(), indent=2, ensure_ascii=False))
    else:
        for finding in checked.findings:
            print(finding)
    counts = ((checked.files, "file"), (checked.errors, "error"), (checked.warnings, "warning"))
    told = ", ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts)
    print(f"{told}, {time.perf_counter() - started:.1f} s", file=sys.stderr)
    return 1 if checked.errors else 0
