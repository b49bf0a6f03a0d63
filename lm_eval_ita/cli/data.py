"""`lm-eval-ita data`: list the data sets, say where each comes from, fetch them, check a folder of them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import folder
from lm_eval_ita.errors import UserError

__all__ = ["add_parser", "run"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the `data` command with its four subcommands."""
    parser = subparsers.add_parser("data", help="list, fetch and check the data sets", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    listing = actions.add_parser("list", help="which data sets there are, their licences and sizes")
    status = actions.add_parser("status", help="where each data set would come from now; downloads nothing")
    status.add_argument("--data-dir", help="a data folder to look in first, or 'sample'")
    status.add_argument("keys", nargs="*", metavar="KEY", help="data sets (default: all)")
    for command in (listing, status):
        command.add_argument("--json", action="store_true", help="print JSON instead of a table")

    fetch = actions.add_parser("fetch", help="bring data sets onto this machine")
    fetch.add_argument("keys", nargs="*", metavar="KEY", help="data sets (default: all but those on request)")
    fetch.add_argument("--to", type=Path, metavar="DIR", help="write a data folder, for use without a network")
    fetch.add_argument("--all-splits", action="store_true", help="also the splits that no task needs")

    verify = actions.add_parser("verify", help="check a data folder row by row; exit status 2 if anything is wrong")
    verify.add_argument("dir", nargs="?", type=Path, metavar="DIR", help=f"the folder (default: ${folder.ENVIRONMENT})")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run a parsed `data` command; returns the exit status."""
    actions = {"list": _list, "status": _status, "fetch": _fetch, "verify": _verify}
    return actions[args.action](args)


def _print_table(title: str, columns: list[str], lines: list[list[str]]) -> None:
    import rich.box
    import rich.console
    import rich.table
    import rich.text

    table = rich.table.Table(title=title, box=rich.box.SIMPLE, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for line in lines:
        table.add_row(*map(rich.text.Text, line))  # Text: a bracket in a path is not markup
    # A pipe has no width of its own, and 80 columns would fold every address.
    console = rich.console.Console(width=None if sys.stdout.isatty() else 200)
    console.print(table)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _list(args: argparse.Namespace) -> int:
    entries = catalogue.catalogue().values()
    if args.json:
        _print_json([_described(entry) for entry in entries])
        return 0
    lines = [
        [
            entry.key,
            entry.origin.replace("_", " "),
            entry.licence,
            "\n".join(name + ("" if split.required else " (optional)") for name, split in entry.splits.items()),
            "\n".join("?" if split.rows is None else f"{split.rows:,}" for split in entry.splits.values()),
            _source(entry),
        ]
        for entry in entries
    ]
    _print_table("Data sets", ["key", "origin", "licence", "splits", "rows", "where from"], lines)
    return 0


def _source(entry: catalogue.Entry) -> str:
    places = [f"Hub: {entry.hub.id}"] if entry.hub is not None else []
    places += [file.url for file in entry.canonical]
    if entry.access == "request":
        places = [entry.access_note or "on request", *places]
    return "\n".join(places)


def _described(entry: catalogue.Entry) -> dict[str, Any]:
    described = entry.model_dump(mode="json", exclude_none=True)
    described["splits"] = {
        name: {"rows": split.rows, "required": split.required, "hub_url": entry.hub_url(name)}
        for name, split in entry.splits.items()
    }
    return described


def _status(args: argparse.Namespace) -> int:
    found = [(key, *catalogue.locate(key, args.data_dir)) for key in args.keys or catalogue.keys()]
    if args.json:
        _print_json([{"key": key, "origin": origin, "where": where} for key, origin, where in found])
        return 0
    lines = [[key, (origin or "missing").replace("_", " "), where] for key, origin, where in found]
    _print_table("Where each data set would come from now", ["key", "from", "where"], lines)
    if any(origin == "sample" for _, origin, _ in found):
        print("SAMPLE DATA, NOT COMPARABLE")
    return 0


def _fetch(args: argparse.Namespace) -> int:
    keys = args.keys or [key for key, entry in catalogue.catalogue().items() if entry.access == "open"]
    for key in keys:
        catalogue.entry(key)  # a misspelt key is said before the first download
    failures = 0
    for key in keys:
        try:
            loaded = catalogue.fetch(key, args.to, optional=args.all_splits)
        except UserError as error:
            failures += 1
            print(error, file=sys.stderr)
            continue
        sizes = ", ".join(f"{split} {len(rows):,}" for split, rows in loaded.splits.items())
        print(f"{key}: {sizes} rows from {loaded.where}" + (f", written to {args.to / key}" if args.to else ""))
        for note in loaded.notes:
            print(f"note: {note}", file=sys.stderr)
    if args.to is not None and failures < len(keys):
        print(f"to use them: export {folder.ENVIRONMENT}={args.to.absolute()}")
    return 2 if failures else 0


def _verify(args: argparse.Namespace) -> int:
    chosen = args.dir or os.environ.get(folder.ENVIRONMENT)
    if not chosen:
        raise UserError(f"which folder? Name one, or set {folder.ENVIRONMENT}")
    root = folder.samples() if str(chosen) == folder.SAMPLE else Path(chosen).expanduser()
    found = 0
    for kind, text in folder.verify(root):
        if kind == "problem":
            found += 1
            print(text)
        else:
            print(f"note: {text}", file=sys.stderr)
    print(
        f"{root}: {found} problem{'' if found == 1 else 's'}" if found else f"{root}: all rows are good",
        file=sys.stderr,
    )
    return 2 if found else 0
