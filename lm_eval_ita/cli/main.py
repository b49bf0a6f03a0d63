"""The `lm-eval-ita` command."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from lm_eval_ita._version import __version__
from lm_eval_ita.errors import UserError

__all__ = ["main", "make_parser"]

# Each command and its module.
_COMMANDS = {
    "run": "run",
    "prepare": "prepare",
    "sweep": "sweep",
    "list": "list_tasks",
    "validate": "validate",
    "new-task": "new_task",
    "translate": "translate",
    "data": "data",
    "summary": "summary",
    "compare": "compare",
    "report": "report",
    "rescore": "rescore",
    "submit": "submit",
    "leaderboard": "leaderboard",
    "tweety": "tweety",
    "demo": "demo",
    "demo-model": "demo_model",
    "tasks-path": "tasks_path",
}


def make_parser(given: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the whole command.

    Args:
        given: The arguments that it will get. Where the first names a command, only that one is there: it does not wait
            for the imports of the others.
    """
    parser = argparse.ArgumentParser(
        prog="lm-eval-ita",
        description="Italian evaluation suites (ItaEval, ItaP-AT) for EleutherAI's lm-evaluation-harness.",
        epilog="To evaluate a model: lm-eval-ita run --model_args pretrained=MODEL --tasks itapat",
    )
    parser.add_argument("--version", action="version", version=f"lm-eval-ita {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    named = [given[0]] if given and given[0] in _COMMANDS else _COMMANDS
    for command in named:
        importlib.import_module(f"lm_eval_ita.cli.{_COMMANDS[command]}").add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Returns:
        0 for success, 1 for a run that failed, 2 for bad usage or bad data, 130 when interrupted, 143 after SIGTERM.
    """
    given = sys.argv[1:] if arguments is None else arguments
    options = make_parser(given).parse_args(given)
    try:
        return int(options.run(options))
    except UserError as error:
        print(f"lm-eval-ita: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("lm-eval-ita: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader (a pager, head) has gone: nothing to say, and nobody to say it to
        return 0


if __name__ == "__main__":
    sys.exit(main())
