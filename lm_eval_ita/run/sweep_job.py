"""A cell's job, on the machine where it runs: `lm-eval-ita run` in a process of its own, told in time to stop."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lm_eval_ita.run.sweep_state import Attempt, attempts, working, write_attempts

__all__ = ["CellJob", "JobFailedError"]

_POLL_SECONDS = 0.2
# Left between the end of a run that is told to stop and the end of the wall clock, for requeueing.
_REQUEUE_SECONDS = 15


class JobFailedError(Exception):
    """The run of a cell did not end with 0; the cell's own files say why."""


@dataclass
class CellJob:
    """What submitit calls, and asks for a checkpoint before the wall clock ends.

    Attributes:
        cell: The cell's folder.
        arguments: Of `lm-eval-ita`, from `run` on.
        directory: Where the run starts: relative names in the sweep's file are seen from there.
        environment: Variables of the run; None removes one.
        signal_before: Seconds from the signal to the end of the wall clock.
    """

    cell: Path
    arguments: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str | None]
    signal_before: int
    _process: "subprocess.Popen[bytes] | None" = field(default=None, init=False, repr=False)
    _attempts: list[Attempt] = field(default_factory=list, init=False, repr=False)

    def __call__(self) -> None:
        """Run the cell, or go on with it.

        Raises:
            JobFailedError: The run ended with another code than 0.
        """
        job = _job_id()
        self.cell.mkdir(parents=True, exist_ok=True)
        with working(self.cell):
            code = self._run(job)
        if code != 0:
            raise JobFailedError(f"lm-eval-ita run ended with {code}: {self.cell / 'run.log'}")

    def checkpoint(self) -> Any:
        """Called in a signal handler: stop the run after the block in hand, and say how to go on: the same again."""
        import submitit

        if self._process is not None:
            _stop(self._process.pid, max(5, self.signal_before - _REQUEUE_SECONDS))
            self._end(None, "stopped to be requeued")
        return submitit.helpers.DelayedSubmission(
            CellJob(self.cell, self.arguments, self.directory, self.environment, self.signal_before)
        )

    def _run(self, job: str) -> int:
        environment = {**os.environ, **{key: value for key, value in self.environment.items() if value is not None}}
        for key in [key for key, value in self.environment.items() if value is None]:
            environment.pop(key, None)
        with (self.cell / "run.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "lm_eval_ita", *self.arguments],
                cwd=self.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # SLURM sends its signal to all processes of the job; only this one is to act on it.
                preexec_fn=_ignore_user_signals,
            )
        self._process = process
        now = Attempt(job, socket.gethostname(), process.pid, time.time())
        self._attempts = [*attempts(self.cell, job), now]
        write_attempts(self.cell, self._attempts)
        # Not wait(): it holds a lock of the process, and the signal's handler would wait for it for ever.
        while process.poll() is None:
            time.sleep(_POLL_SECONDS)
        code = int(process.returncode)
        self._end(code, _why(code))
        return code

    def _end(self, code: int | None, why: str | None) -> None:
        self._attempts[-1] = replace(self._attempts[-1], ended=time.time(), code=code, why=why)
        write_attempts(self.cell, self._attempts)


def _job_id() -> str:
    import submitit

    return str(submitit.JobEnvironment().job_id)


def _ignore_user_signals() -> None:
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


def _stop(pid: int, seconds: float) -> None:
    """Ask a child to stop, and kill it when it does not in time. It is left to the `poll` of whoever started it."""
    end = time.monotonic() + seconds
    try:
        os.kill(pid, signal.SIGTERM)
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)
    except (ProcessLookupError, ChildProcessError):
        return  # it is over, and somebody has waited for it


def _why(code: int) -> str | None:
    """An exit code in words."""
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return {
        0: None,
        1: "a task failed, or the disk or the memory is full",
        2: "an option is wrong, or data, a scorer or the model cannot be had",
        130: "interrupted",
        143: "stopped by SIGTERM",
    }.get(code, f"exit code {code}")
