"""`lm-eval-ita sweep`: many models by many tasks, as SLURM jobs or one after another here."""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    from lm_eval_ita.run.sweep import SweepRun
    from lm_eval_ita.run.sweep_status import CellStatus

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "sweep",
        help="many models by many tasks, as SLURM jobs",
        description="Submit every model by every group of tasks as a job of SLURM, through submitit. Jobs that reach "
        "their time limit are requeued and go on. The same command again submits what is neither done nor queued nor "
        "running. Exit codes: 0; 1 a cell has failed (--status, --local); 2 the file is wrong, or SLURM is not there.",
    )
    parser.add_argument("file", type=Path, metavar="sweep.yaml", help="models, tasks, options (docs/running.md)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--local", action="store_true", help="run the cells here, one after another, without SLURM")
    what.add_argument("--status", action="store_true", help="show every cell, and the log's end of what failed")
    what.add_argument("--cancel", action="store_true", help="stop what is queued or running; what was answered stays")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be submitted")
    parser.add_argument("--retry-failed", action="store_true", help="submit failed cells again too")
    parser.add_argument("--json", action="store_true", help="with --status: JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Submit, or do what is asked instead."""
    from lm_eval_ita.run.sweep import open_sweep

    if options.json and not options.status:
        raise UserError("--json goes with --status")
    if (options.status or options.cancel) and (options.dry_run or options.retry_failed):
        raise UserError("--dry-run and --retry-failed do not go with --status or --cancel, which submit nothing")
    sweep = open_sweep(options.file)
    if options.status:
        return _status(sweep, as_json=options.json)
    if options.cancel:
        cancelled = sweep.cancel()
        print("\n".join([f"cancelled: {name}" for name in cancelled] or ["nothing is queued or running"]))
        return 0
    if options.dry_run:
        return _dry_run(sweep, retry_failed=options.retry_failed)
    if options.local:
        sweep.run_local(retry_failed=options.retry_failed, tell=_tell)
        failed = [status.cell for status in sweep.status() if status.state == "failed"]
        print("\n".join([f"failed: {name}; see --status" for name in failed]) or "done")
        return 1 if failed else 0
    submitted = sweep.submit(retry_failed=options.retry_failed)
    for cell, job in submitted:
        print(f"job {job}: {cell.name}")
    _left(sweep, len(submitted))
    return 0


def _left(sweep: "SweepRun", submitted: int) -> None:
    """Say what was not submitted, and why."""
    counts = Counter(status.state for status in sweep.status())
    counts["queued or running"] = counts.pop("queued", 0) + counts.pop("running", 0)
    said = [f"{number} {state}" for state, number in counts.items() if number]
    retry = "; --retry-failed submits what failed" if counts["failed"] else ""
    print(f"{len(sweep.cells)} cells, {submitted} submitted now: {', '.join(said)}{retry}")


def _dry_run(sweep: "SweepRun", *, retry_failed: bool) -> int:
    import shlex

    wanted = sweep.to_submit(retry_failed=retry_failed)
    for cell in wanted:
        slurm = cell.slurm
        asks = f"{slurm.time} min, {slurm.cpus} CPUs, {slurm.gpus} GPUs"
        print(f"{cell.name} ({asks}): lm-eval-ita {shlex.join(cell.arguments)}")
    print(f"{len(wanted)} of {len(sweep.cells)} cells would be submitted")
    return 0


def _status(sweep: "SweepRun", *, as_json: bool) -> int:
    from lm_eval_ita.cli._sweep import as_records, status_text

    statuses = sweep.status()
    if as_json:
        content = {"schema_version": 1, "output": str(sweep.output), "cells": as_records(statuses)}
        print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        print(status_text(sweep.output, statuses))
    return 1 if any(status.state == "failed" for status in statuses) else 0


def _tell(status: "CellStatus") -> None:
    print(": ".join(part for part in (status.cell, status.state, status.note) if part), flush=True)
