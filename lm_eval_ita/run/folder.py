"""The folder of a run: what it holds, and how it is written so that a kill at any moment leaves it whole.

run.json                  what the run is
answers/<task>.jsonl      the model's answers so far (`run.answers`)
tasks/<task>.json         a task that is done, with its cost
samples_<task>_<date>.jsonl, results_<date>.json    the harness's layout; the date is that of the run's first start
log.jsonl, harness.log, failures.log    events; what the harness logged; tracebacks of tasks that failed
"""

import errno
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lm_eval_ita._version import __version__
from lm_eval_ita.errors import UserError
from lm_eval_ita.run.failures import RunFailedError

__all__ = ["FolderError", "RunFolder", "disk_errors", "open_folder", "tasks_done"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class FolderError(UserError):
    """The run's folder cannot be written."""


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Make an error of the file system one line: what is full fails the run, what is forbidden is the user's to mend.

    Raises:
        RunFailedError: The disk, or the quota, is full.
        FolderError: The folder cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read the log has gone; that is no trouble of the disk
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise RunFailedError(
                f"{path}: cannot be written ({reason}); free some space, and run again to go on"
            ) from error
        raise FolderError(f"cannot be written ({reason}); choose another --output", file=path) from error


class RunFolder:
    """A run's folder, held by one process at a time.

    Attributes:
        path: The folder.
        date: The moment in the names of results and samples, as the harness writes it.
        started: The same moment in seconds since 1970.
    """

    def __init__(self, path: Path, record: Mapping[str, Any]) -> None:
        self.path = path
        self.date = str(record["date"])
        self.started = float(record["started"])

    @property
    def results(self) -> Path:
        """The results file, in the harness's layout."""
        return self.path / f"results_{self.date}.json"

    def answers(self, task: str) -> Path:
        """The file of a task's answers."""
        return self.path / "answers" / f"{_file_name(task)}.jsonl"

    def samples(self, task: str) -> Path:
        """The file of a task's samples."""
        return self.path / f"samples_{task}_{self.date}.jsonl"

    def done(self, task: str) -> dict[str, Any] | None:
        """The record of a task that is done; None for one that is not.

        Raises:
            UserError: The record is damaged.
        """
        path = self._task(task)
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise UserError(f"cannot be read ({error}); delete it to run the task again", file=path) from error

    def finish_task(self, task: str, record: str) -> None:
        """Write the record of a task that is done, in JSON, after its samples: from now on the task is skipped."""
        self.write(self._task(task), [record])

    def record_failure(self, task: str, trace: str) -> None:
        """Keep the traceback of a task that failed."""
        with disk_errors(self.path), (self.path / "failures.log").open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(timezone.utc).isoformat(timespec='seconds')} {task}\n{trace}\n")

    def write(self, path: Path, parts: Iterable[str]) -> None:
        """Write a file beside its place, and rename it there once it is on the disk.

        Args:
            path: The file.
            parts: Its text, in pieces.

        Raises:
            RunFailedError, FolderError: As `disk_errors`.
        """
        beside = path.with_name(f".{path.name}.new")
        with disk_errors(path):
            try:
                path.parent.mkdir(exist_ok=True)
                with beside.open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(parts)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)

    def _task(self, task: str) -> Path:
        return _task_file(self.path, task)


def tasks_done(path: Path, tasks: Iterable[str]) -> set[str]:
    """Which tasks a run's folder holds as done; looks only, and the folder need not exist."""
    return {task for task in tasks if _task_file(path, task).is_file()}


def _task_file(path: Path, task: str) -> Path:
    return path / "tasks" / f"{_file_name(task)}.json"


def _file_name(task: str) -> str:
    return task.replace("/", "__")


@contextmanager
def open_folder(output: Path, name: str, identity: Mapping[str, Any], *, resume: bool) -> Iterator[RunFolder]:
    """Open a run's folder, or make it, and keep other processes out while it is open.

    Args:
        output: The folder of all runs.
        name: The run's own, from `settings.folder_name`.
        identity: What the run is.
        resume: Go on with what is there. Otherwise an earlier folder is set aside as `<name>.before-<date>`.

    Raises:
        UserError: It cannot be written, is another run's, or is in use.
        RunFailedError: The disk is full.
    """
    path = output.expanduser() / name
    with disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with _alone(path):
        if not resume and (path / "run.json").exists():
            path = _set_aside(path)
        yield _opened(path, identity)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system releases whatever way the process ends."""
    import filelock

    # Beside the folder: it must stay where it is when the folder is set aside.
    lock = filelock.FileLock(path.with_name(f".{path.name}.lock"))
    try:
        with disk_errors(path):
            _acquire(lock, path)
    except NotImplementedError:
        # A cluster's file system without locks: better to run than not.
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: Any, path: Path) -> None:
    import filelock

    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:  # an OSError, but no trouble of the disk
        raise UserError("another process is at work on this run; wait for it, or stop it", file=path) from error


def _set_aside(path: Path) -> Path:
    with disk_errors(path):
        path.rename(path.with_name(f"{path.name}.before-{datetime.now(timezone.utc):%Y%m%dT%H%M%S%f}"))
        path.mkdir()
    return path


def _opened(path: Path, identity: Mapping[str, Any]) -> RunFolder:
    file = path / "run.json"
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        folder, theirs = RunFolder(path, record), record["identity"]
    except FileNotFoundError:
        return _new(path, identity)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"cannot be read ({error}); use --no-resume to start anew", file=file) from error
    if difference := _difference(theirs, identity):
        raise UserError(f"the folder is another run's: {difference}; use --no-resume to start anew", file=file)
    return folder


def _new(path: Path, identity: Mapping[str, Any]) -> RunFolder:
    now = time.time()
    date = datetime.fromtimestamp(now).isoformat(timespec="microseconds").replace(":", "-")
    record = {"lm_eval_ita": __version__, "date": date, "started": now, "identity": identity}
    folder = RunFolder(path, record)
    folder.write(path / "run.json", [json.dumps(record, indent=1, ensure_ascii=False)])
    return folder


def _difference(theirs: Any, ours: Mapping[str, Any]) -> str | None:
    """The first setting that differs, in words."""
    if not isinstance(theirs, dict):
        return "its identity is damaged"
    for name in sorted({*theirs, *ours}):
        if theirs.get(name) != ours.get(name):
            return f"{name} is {_short(theirs.get(name))} there and {_short(ours.get(name))} here"
    return None


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
