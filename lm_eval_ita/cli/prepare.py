"""`lm-eval-ita prepare`: fill a folder with everything that a node without a network needs, or check such a folder."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal

from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    from lm_eval_ita.run.manifest import Item

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "prepare",
        help="bring data, scorers and models into a folder, for `run --from` without a network",
        description="Brings the data sets and scorer models of the tasks, and models, into a folder with a manifest "
        "(checksums, sizes, licences). The same command again verifies what is there, and adds and mends what is not. "
        "Exit codes: 0; 1 --check found a difference; 2 something could not be prepared.",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--to", type=Path, metavar="DIR", help="the folder to fill")
    where.add_argument("--check", type=Path, metavar="DIR", help="read every file of a prepared folder; change nothing")
    parser.add_argument("--tasks", "-t", nargs="+", default=[], metavar="NAME", help="tasks, groups, patterns with *")
    parser.add_argument(
        "--model",
        "-M",
        nargs="+",
        default=[],
        metavar="NAME",
        help="Hub ids (NAME@REVISION for a branch, tag or commit) or folders: models, adapters, tokenizers",
    )
    parser.add_argument(
        "--stanza", nargs="+", choices=("en", "it"), default=[], help="stanza's models of a language, for `translate`"
    )
    parser.add_argument("--include_path", metavar="DIR", help="a folder with more task files")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prepare, or check."""
    if options.check is not None:
        if options.tasks or options.model or options.stanza:
            raise UserError("--check takes no --tasks, --model or --stanza: it looks at all that the folder holds")
        return _check(options.check.expanduser())
    tasks = tuple(name for part in options.tasks for name in part.split(",") if name)
    if not tasks and not options.model and not options.stanza:
        raise UserError("nothing to prepare: name --tasks, --model, or both; or --stanza")
    return _prepare(options.to.expanduser(), tasks, options)


def _prepare(root: Path, tasks: tuple[str, ...], options: argparse.Namespace) -> int:
    from lm_eval_ita.run.prepare import Report, prepare
    from lm_eval_ita.run.settings import Settings

    report = Report(
        done=lambda item, how: print(f"{how:<8}  {_line(item)}"),
        note=lambda text: print(f"note: {text}", file=sys.stderr),
        failed=lambda text: print(f"failed: {text}", file=sys.stderr),
    )
    settings = Settings(tasks=tasks, include_path=options.include_path)
    items, failures = prepare(root, settings, options.model, report, options.stanza)
    print(f"{root}: {len(items)} items, {_size(sum(item.bytes for item in items.values()))}")
    if failures:
        print(f"{failures} could not be prepared; the same command again goes on", file=sys.stderr)
        return 2
    print(f"without a network: lm-eval-ita run --from {root} --model_args pretrained=NAME --tasks ...")
    return 0


def _check(root: Path) -> int:
    from lm_eval_ita.run.manifest import read_manifest
    from lm_eval_ita.run.verify import full_check

    items = read_manifest(root)
    found = full_check(root, items.values())
    for difference in found.differences:
        print(f"{difference.file}: {difference.what}")
    good = f"{found.files} files, {_size(found.bytes_read)}: all as the manifest says"
    count = len(found.differences)
    print(f"{root}: {good if not count else f'{count} of {found.files} files differ'}", file=sys.stderr)
    return 1 if found.differences else 0


def _line(item: "Item") -> str:
    at = "" if item.commit is None else f", commit {item.commit[:12]}"
    return f"{item.label}: {_size(item.bytes)}, licence {item.licence or 'unknown'}{at}"


def _size(count: int) -> str:
    """Bytes for people."""
    return decimal(count)
