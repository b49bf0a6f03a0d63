"""How far a sweep is: each cell's state, from SLURM's queue and the files of its job."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_ita.run.slurm_queue import QueuedJob
from lm_eval_ita.run.sweep_state import Attempt, Submission, at_work, attempts

__all__ = ["CellStatus", "Progress", "cell_progress", "cell_status", "state_of"]

_TAIL_LINES = 12
_TAIL_BYTES = 8192
# An end that SLURM names when the job's own files do not.
_ENDS = {
    "TIMEOUT": "SLURM's time limit, before it could be requeued; raise slurm.signal_before",
    "OUT_OF_MEMORY": "killed by SLURM for its memory; raise slurm.mem, or lower batch_size",
    "NODE_FAIL": "the machine failed",
    "PREEMPTED": "preempted by another job",
    "BOOT_FAIL": "the machine did not start",
    "DEADLINE": "SLURM's deadline",
}


@dataclass(frozen=True)
class Progress:
    """What a cell's run said of itself.

    Attributes:
        tasks: All of its tasks; empty before the run knows them.
        done: Those that are done.
        scores: Task to metric and score, of those that are done.
        results: The results file, at the end.
    """

    tasks: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    scores: Mapping[str, tuple[str, float | None]] = field(default_factory=dict)
    results: Path | None = None


@dataclass(frozen=True)
class CellStatus:
    """A cell.

    Attributes:
        cell: `<model>/<tasks>`.
        state: "new" (never submitted, or changed since), "queued", "running", "done", "failed", "cancelled" or
            "stopped" (by SIGTERM or Ctrl-C; submitting again goes on).
        job: SLURM's job id, or the local job's number; None for a new cell.
        note: Why it waits or failed; how often it was requeued.
        progress: Its tasks.
        seconds: Spent in all of its job's starts.
        log: The last lines of a failed cell's log.
    """

    cell: str
    state: str
    job: str | None
    note: str
    progress: Progress
    seconds: float | None
    log: tuple[str, ...] = ()


def cell_status(
    name: str,
    folder: Path,
    jobs: Path,
    submission: Submission | None,
    digest: str,
    queue: Mapping[str, QueuedJob],
) -> CellStatus:
    """A cell's state, from what there is.

    Args:
        name: The cell's.
        folder: Its folder.
        jobs: The folder of submitit's files.
        submission: Its job, if it was ever submitted.
        digest: Of what the sweep's file asks for now.
        queue: SLURM's.
    """
    progress = cell_progress(folder)
    if submission is None:
        return CellStatus(name, "new", None, "", progress, None)
    made = attempts(folder, submission.job)
    alive = submission.local and at_work(folder)
    state, note = state_of(submission, made, queue.get(submission.job), alive=alive)
    if submission.digest != digest:
        if state in ("queued", "running"):
            note = "the sweep's file has changed since it was submitted"
        else:
            return CellStatus(name, "new", None, "changed since its last job", Progress(), None)
    log = _log_tail(folder, jobs, submission.job, made) if state == "failed" else ()
    return CellStatus(name, state, submission.job, note, progress, _seconds(made, state), log)


def state_of(submission: Submission, made: Sequence[Attempt], job: QueuedJob | None, *, alive: bool) -> tuple[str, str]:
    """A submitted cell's state, and a note on it.

    Args:
        submission: Its job.
        made: The job's starts.
        job: The job in SLURM's queue.
        alive: Whether a local job is at work.
    """
    last = made[-1] if made else None
    again = len(made) - 1
    requeued = f"requeued {again} {'time' if again == 1 else 'times'}" if again > 0 else ""
    if last is not None and last.code == 0:
        return "done", requeued
    if job is not None and job.waits:
        return "queued", "to be requeued" if made and not requeued else requeued or _reason(job)
    if alive or (job is not None and job.runs):
        return "running", requeued
    if submission.cancelled or (job is not None and job.state == "CANCELLED"):
        return "cancelled", ""
    if last is None:
        ended = "" if job is None else f"{_ENDS.get(job.state, job.state)}; "
        return "failed", f"{ended}the job did not start the run"
    if last.code in (130, 143):
        return "stopped", last.why or ""
    if last.code is not None:
        return "failed", f"exit code {last.code}: {last.why}"
    if job is not None and job.state in _ENDS:
        return "failed", _ENDS[job.state]
    if last.ended is not None:
        return (
            "failed",
            f"its time ended after start {len(made)}, and it was not requeued; --retry-failed goes on",
        )
    return "failed", "the job ended without a word: killed, or its machine failed"


def cell_progress(folder: Path) -> Progress:
    """What the run of a cell said in its events; of the latest run's folder, where settings have changed."""
    progress = Progress()
    current: str | None = None
    for event in _events(folder / "events.jsonl"):
        kind = event.get("event")
        if kind == "run_started":
            scores = progress.scores if event["folder"] == current else {}
            current = event["folder"]
            progress = Progress(tuple(event["tasks"]), tuple(event["done"]), scores)
        elif kind == "task_finished":
            scores = {**progress.scores, event["task"]: (event["metric"], _finite(event["score"]))}
            done = dict.fromkeys((*progress.done, event["task"]))
            progress = Progress(progress.tasks, tuple(done), scores)
        elif kind == "run_finished":
            progress = Progress(progress.tasks, progress.done, progress.scores, Path(event["results"]))
    return progress


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


def _events(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the end of a line that a kill cut
        if isinstance(event, dict):
            events.append(event)
    return events


def _reason(job: QueuedJob) -> str:
    return "" if job.reason in ("None", "Priority", "Resources") else job.reason


def _seconds(made: Sequence[Attempt], state: str) -> float | None:
    if not made:
        return None
    open_end = time.time() if state == "running" else None
    return sum((attempt.ended or open_end or attempt.started) - attempt.started for attempt in made)


def _log_tail(folder: Path, jobs: Path, job: str, made: Sequence[Attempt]) -> tuple[str, ...]:
    """The last lines of the run's log; where the run was not started, of the job's own."""
    path = folder / "run.log" if made else jobs / f"{job}_0_log.err"
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return (f"no log: {path}",)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return tuple(lines[-_TAIL_LINES:])
