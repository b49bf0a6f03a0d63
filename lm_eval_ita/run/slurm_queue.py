"""SLURM's queue: what waits or runs. Clusters without accounting know no more; how a job ended is in its files."""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from lm_eval_ita.errors import UserError

__all__ = ["QueuedJob", "cancel_jobs", "queued_jobs"]

_SECONDS = 60


@dataclass(frozen=True)
class QueuedJob:
    """A job as the queue shows it; one that ended stays there for some minutes.

    Attributes:
        state: SLURM's word ("PENDING", "RUNNING", "TIMEOUT").
        reason: Why it waits, or how it ended.
        name: The job's name; that of all jobs of an array is the same.
    """

    state: str
    reason: str
    name: str = ""

    @property
    def waits(self) -> bool:
        """Whether it is yet to run, for the first time or again."""
        return self.state in ("PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")

    @property
    def runs(self) -> bool:
        """Whether it holds its machine."""
        return self.state in (
            *("RUNNING", "CONFIGURING", "COMPLETING", "RESIZING"),
            *("SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED"),
        )


def queued_jobs() -> dict[str, QueuedJob]:
    """All jobs of this user that SLURM remembers, by their ids (`12`, or `12_3` in an array).

    Raises:
        UserError: SLURM cannot be asked.
    """
    lines = _ask(["squeue", "--me", "--noheader", "--array", "--states=all", "--format=%i|%T|%j|%r"]).splitlines()
    fields = [line.strip().split("|", 3) for line in lines if line.count("|") >= 3]
    return {job: QueuedJob(state, reason, name) for job, state, name, reason in fields}


def cancel_jobs(jobs: Iterable[str]) -> None:
    """Take jobs out of the queue, and stop those that run.

    Raises:
        UserError: SLURM cannot be asked, or does not do it.
    """
    _ask(["scancel", *jobs])


def _ask(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except FileNotFoundError as error:
        raise UserError(
            f"there is no {command[0]} here: run this on a machine of a SLURM cluster, or with --local"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{command[0]} did not answer in {_SECONDS} s; try again later") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UserError(f"{command[0]}: {said[0]}")
    return done.stdout
