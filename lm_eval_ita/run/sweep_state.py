"""What a sweep keeps beside its cells: which job was submitted for which cell, and how each job went.

<output>/sweep.json               the submissions; written by whoever submits, under a lock
<output>/.sweep-jobs/             submitit's own files
<output>/<model>/<tasks>/         a cell
    job.json                      the job's starts and ends; written by the job
    events.jsonl, run.log         what the run says, for programs and for people
    <model>-<hash>/               the run's folder
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.folder import disk_errors
from lm_eval_ita.run.slurm_queue import QueuedJob

__all__ = ["Attempt", "State", "Submission", "at_work", "attempts", "sweep_lock", "working", "write_attempts"]

_LOCK_SECONDS = 120.0


@dataclass(frozen=True)
class Submission:
    """A cell's job as it was submitted.

    Attributes:
        job: SLURM's job id (`12_3` in an array), or the number of the local job.
        local: Whether it runs on this machine, without SLURM.
        digest: Of everything that was asked for: another one is another evaluation.
        cancelled: Whether `--cancel` ended it.
    """

    job: str
    local: bool
    digest: str
    cancelled: bool = False


@dataclass(frozen=True)
class Attempt:
    """One start of a cell's job; a requeued job has several.

    Attributes:
        job: The job's id.
        host: The machine.
        pid: Of the run.
        started, ended: Seconds since 1970; `ended` is None until it is over, and stays None when the job is killed.
        code: The run's exit code; None as above.
        why: How it ended, in words.
    """

    job: str
    host: str
    pid: int
    started: float
    ended: float | None = None
    code: int | None = None
    why: str | None = None


class State:
    """The submissions of a sweep, by the names of cells.

    Attributes:
        submissions: What SLURM is known to have taken.
        asked: Arrays that SLURM was asked to take, by the names of their jobs, with the digests of their cells in the
            array's order. Whoever was killed between asking and writing down the answer left one here.
    """

    def __init__(self, output: Path) -> None:
        self._path = output / "sweep.json"
        self.submissions: dict[str, Submission] = {}
        self.asked: dict[str, dict[str, str]] = {}
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            self.submissions = {name: Submission(**record) for name, record in content["cells"].items()}
            self.asked = {name: dict(cells) for name, cells in content.get("asked", {}).items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(
                f"cannot be read ({error}); delete it to forget which jobs were submitted", file=self._path
            ) from error

    def write(self) -> None:
        """Write the submissions down."""
        content = {"cells": {name: asdict(record) for name, record in self.submissions.items()}, "asked": self.asked}
        _write(self._path, content)

    def recover(self, queue: Mapping[str, QueuedJob]) -> None:
        """Take in the jobs that SLURM took from a submitter who could not write it down any more."""
        for name, cells in self.asked.items():
            jobs = {job: queued for job, queued in queue.items() if queued.name == name}
            for index, (cell, digest) in enumerate(cells.items()):
                # A job alone is no array, and has no index.
                found = [job for job in jobs if job.partition("_")[2] in (("",) if len(cells) == 1 else (str(index),))]
                if found:
                    self.submissions[cell] = Submission(found[0], local=False, digest=digest)
        self.asked = {}


def attempts(cell: Path, job: str) -> tuple[Attempt, ...]:
    """The starts of a cell's job, from the first."""
    try:
        content = json.loads((cell / "job.json").read_text(encoding="utf-8"))
        found = tuple(Attempt(**record) for record in content)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"cannot be read ({error}); delete it", file=cell / "job.json") from error
    return tuple(attempt for attempt in found if attempt.job == job)


def write_attempts(cell: Path, made: Sequence[Attempt]) -> None:
    """Write down how a cell's job goes."""
    _write(cell / "job.json", [asdict(attempt) for attempt in made])


def _write(path: Path, content: Mapping[str, Any] | list[Any]) -> None:
    beside = path.with_name(f".{path.name}.new")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)


@contextmanager
def sweep_lock(output: Path) -> Iterator[None]:
    """Keep other submitters of the sweep out, who wait for their turn.

    Raises:
        UserError: Another one is at work for minutes; the folder cannot be written.
    """
    import filelock

    with disk_errors(output):
        output.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(output / ".sweep.lock")
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except filelock.Timeout as error:
        raise UserError("another process is submitting this sweep; wait for it, or stop it", file=output) from error
    except NotImplementedError:
        # A cluster's file system without locks: better to submit than not.
        yield
        return
    try:
        yield
    finally:
        lock.release()


@contextmanager
def working(cell: Path) -> Iterator[None]:
    """Hold the cell's lock while its job runs: the system releases it whatever way the job ends."""
    import filelock

    # Someone may be asking `at_work` at this moment.
    with filelock.FileLock(cell / ".job.lock", timeout=10):
        yield


def at_work(cell: Path) -> bool:
    """Whether a job of this machine is at work on the cell."""
    import filelock

    path = cell / ".job.lock"
    if not path.exists():
        return False
    lock = filelock.FileLock(path, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        return True
    lock.release()
    return False
