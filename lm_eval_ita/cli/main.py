"""The `lm-eval-ita` command."""

import argparse
import sys
from collections.abc import Sequence

from lm_eval_ita import __version__
from lm_eval_ita.cli import compare, data, demo, demo_model, list_tasks, rescore, run, summary, tasks_path
from lm_eval_ita.errors import UserError

__all__ = ["main"]

_COMMANDS = (run, list_tasks, data, summary, compare, rescore, demo, demo_model, tasks_path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Returns:
        0 for success, 1 for a run that failed, 2 for bad usage or bad data, 130 when interrupted, 143 after SIGTERM.
    """
    parser = argparse.ArgumentParser(
        prog="lm-eval-ita",
        description="Italian evaluation suites (ItaEval, ItaP-AT) for EleutherAI's lm-evaluation-harness.",
        epilog="To evaluate a model: lm-eval-ita run --model_args pretrained=MODEL --tasks itapat",
    )
    parser.add_argument("--version", action="version", version=f"lm-eval-ita {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(subparsers)
    options = parser.parse_args(arguments)
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
