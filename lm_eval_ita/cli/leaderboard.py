"""`lm-eval-ita leaderboard`: the app, and a maintainer's decisions on what waits."""

import argparse
import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    from lm_eval_ita.leaderboard.store import Store

__all__ = ["add_parser", "default_store", "run"]

_ACTIONS = ("pending", "approve", "reject")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "leaderboard",
        help="browse, compare and take submissions in a browser",
        description="Without an action: starts the app, with the published figures and what the store holds. "
        "Actions: pending lists what waits, pending ID shows one; approve ID puts it on the board, reject ID --reason "
        "TEXT does not. "
        "Exit codes: 0; 2 the store or the id is wrong, or a package is missing.",
    )
    parser.add_argument("action", nargs="?", choices=_ACTIONS, metavar="ACTION", help="pending, approve or reject")
    parser.add_argument("ids", nargs="*", metavar="ID", help="of a submission that waits; approve takes several")
    parser.add_argument(
        "--store",
        metavar="PLACE",
        help="a folder, or hf://datasets/ORG/NAME (default: LM_EVAL_ITA_STORE, else a folder among your data)",
    )
    parser.add_argument("--reason", metavar="TEXT", help="why a submission is rejected")
    parser.add_argument("--host", help="where the app listens (default: 127.0.0.1)")
    parser.add_argument("--port", type=_port, help="its port (default: 7860)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is no port between 1 and 65535")
    return int(text)


def default_store() -> str:
    """Where submissions lie unless the user says otherwise."""
    if chosen := os.environ.get("LM_EVAL_ITA_STORE"):
        return chosen
    import platformdirs

    return str(Path(platformdirs.user_data_dir("lm-eval-ita")) / "leaderboard")


def run(options: argparse.Namespace) -> int:
    """Do what is asked."""
    _check(options)
    from lm_eval_ita.leaderboard.store import open_store

    place = options.store or default_store()
    store = open_store(place)
    if options.action is None:
        return _serve(options, store, place)
    from lm_eval_ita.leaderboard.pending import approve, listed, reject, shown

    if options.action == "approve":
        print("\n".join(approve(store, options.ids)))
    elif options.action == "reject":
        print(reject(store, options.ids[0], options.reason))
    else:
        print(shown(store, options.ids[0]) if options.ids else listed(store))
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.action is not None and (options.host or options.port or options.no_browser):
        raise UserError("--host, --port and --no-browser go with the app, which has no action")
    if options.action in ("approve", "reject") and not options.ids:
        raise UserError(f"name the submission: lm-eval-ita leaderboard {options.action} ID (`pending` lists them)")
    if options.action in ("pending", "reject") and len(options.ids) > 1:
        raise UserError(f"{options.action} takes one ID at a time")
    if (options.reason is not None) != (options.action == "reject"):
        raise UserError("--reason goes with reject, which needs it")


def _serve(options: argparse.Namespace, store: "Store", place: str) -> int:
    from lm_eval_ita.leaderboard.app import serve

    host, port = options.host or "127.0.0.1", options.port or 7860
    for line in store.problems():
        print(f"skipped: {line}", file=sys.stderr)
    address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"

    def started() -> None:
        print(f"The leaderboard is at {address} (store: {place}). Ctrl+C stops it.", flush=True)
        if not options.no_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(store, host, port, on_start=started)
    return 0
