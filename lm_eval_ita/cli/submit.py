"""`lm-eval-ita submit`: from a run's folder to a leaderboard."""

import argparse
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.grid import Grid, displayed, plain

if TYPE_CHECKING:
    from lm_eval_ita.leaderboard.submit import Built

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "submit",
        help="send a model's results to a leaderboard",
        description="Makes a submission of one model's results and samples (--log_samples): every figure is computed "
        "again from the samples, and another one is refused. No path of this machine, no prompt and no answer is in "
        "it. Exit codes: 0; 2 it is refused, and the fields are named.",
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="RUN_DIR", help="folders or results files of one model")
    parser.add_argument("--info", type=Path, metavar="FILE", help="facts about the model (--template writes one)")
    parser.add_argument(
        "--to",
        metavar="PLACE",
        help="a store's folder, hf://datasets/ORG/NAME, or a new FILE.json to upload on the leaderboard's page",
    )
    parser.add_argument("--dry-run", action="store_true", help="check everything, and write nothing")
    parser.add_argument(
        "--template",
        nargs="?",
        const=Path("model.yaml"),
        type=Path,
        metavar="FILE",
        help="write a model.yaml to fill in, and stop",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the submission, and bring it where it goes."""
    from lm_eval_ita.leaderboard.store import RefusedError

    try:
        return _submit(options)
    except RefusedError as error:
        for problem in error.problems:
            print(f"refused: {problem}", file=sys.stderr)
        return 2


def _submit(options: argparse.Namespace) -> int:
    if options.template is not None:
        return _write_template(options)
    if not options.paths:
        raise UserError("name a folder with results: lm-eval-ita submit RUN_DIR --info model.yaml --to PLACE")
    if options.info is None:
        raise UserError("--info is missing: `lm-eval-ita submit --template` writes a model.yaml to fill in")
    if options.to is None and not options.dry_run:
        raise UserError("--to is missing: a folder, hf://datasets/ORG/NAME, or a FILE.json (or --dry-run)")
    from lm_eval_ita.leaderboard.store import open_store
    from lm_eval_ita.leaderboard.submit import build

    # Before minutes of work: a place that cannot be had.
    file = _file(options.to)
    store = None if options.to is None or file is not None else open_store(options.to)
    built = build(options.paths, options.info, datetime.now(timezone.utc))
    for note in built.notes:
        print(f"note: {note}", file=sys.stderr)
    print(plain(_grid(built)))
    submission = built.submission
    if store is not None and options.dry_run:
        store.check(submission)
    if options.dry_run:
        print(f"not written (--dry-run): {submission.submission_id}")
    elif file is not None:
        _write_file(file, built)
        print(f"written: {file}; upload it on the leaderboard's page")
    elif store is not None:
        store.add(submission, built.documents)
        print(f"added to {options.to}: {submission.submission_id}")
    return 0


def _write_template(options: argparse.Namespace) -> int:
    from lm_eval_ita.leaderboard.folder import write_new
    from lm_eval_ita.leaderboard.model_yaml import TEMPLATE

    if options.paths or options.info or options.to or options.dry_run:
        raise UserError("--template stands alone: it writes a file to fill in, and nothing is submitted")
    write_new(options.template, TEMPLATE.encode())
    path = options.template
    print(f"written: {path}; fill it in, then: lm-eval-ita submit RUN_DIR --info {path} --to PLACE")
    return 0


def _file(place: str | None) -> Path | None:
    """The file to write, where the place is one."""
    if place is None or place.startswith("hf://") or not place.endswith(".json"):
        return None
    if Path(place).exists():
        raise UserError("is there already; name a new file", file=place)
    return Path(place)


def _write_file(path: Path, built: "Built") -> None:
    from lm_eval_ita.leaderboard.folder import write_new
    from lm_eval_ita.results.submission_records import upload_bytes

    write_new(path, upload_bytes(built.submission, built.documents))


def _grid(built: "Built") -> Grid:
    submission = built.submission
    documents = {} if built.documents is None else built.documents.tasks
    rows = []
    for name, record in submission.run.tasks.items():
        value = record.primary_value if record.suite == "itapat" else record.score
        low, high = submission.intervals.get(name, (None, None))
        shown = "n/a" if low is None or high is None else f"{low:.4f} {high:.4f}"
        figure = "n/a" if value is None else f"{value:.4f}"
        tested = "yes" if name in documents else "no"
        rows.append((name, record.primary_metric or "", figure, shown, str(record.n_evaluated), tested))
    facts, model = submission.facts, submission.run.model
    title = f"{displayed(facts.display_name, 80)}: {facts.parameters:,} parameters, {facts.kind}, {model.name}"
    notes = ("Every figure was computed again from the samples.",)
    header = ("Task", "Metric", "Score", "95% interval", "Documents", "Paired tests")
    return Grid(title, header, tuple(rows), notes, left=2)
