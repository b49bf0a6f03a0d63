"""Many models by many tasks, as jobs: submitted once, requeued when their time ends, or one after another here."""

import hashlib
import json
import os
import signal
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.fingerprint import model_files
from lm_eval_ita.run.slurm_queue import QueuedJob, cancel_jobs, queued_jobs
from lm_eval_ita.run.sweep_file import Model, Slurm, Sweep, read_sweep
from lm_eval_ita.run.sweep_job import CellJob
from lm_eval_ita.run.sweep_state import State, Submission, at_work, attempts, sweep_lock
from lm_eval_ita.run.sweep_status import CellStatus, cell_status

__all__ = ["Cell", "SweepRun", "open_sweep"]

_PATHS = ("pretrained", "peft", "delta", "tokenizer", "model", "path")
# Of a local job, which no wall clock ends.
_LOCAL_MINUTES = 366 * 24 * 60


@dataclass(frozen=True)
class Cell:
    """A model by a group of tasks.

    Attributes:
        name: `<model>/<tasks>`.
        folder: Its own.
        arguments: Of `lm-eval-ita`.
        slurm: What its job asks for.
        digest: Of everything that is asked for, the model's files included.
    """

    name: str
    folder: Path
    arguments: tuple[str, ...]
    slurm: Slurm
    digest: str


@dataclass(frozen=True)
class SweepRun:
    """A sweep with its cells.

    Attributes:
        directory: That of the sweep's file: names in it are seen from there.
        output: The folder of the cells.
        cells: In the order of the table.
        environment: Variables set for all runs.
    """

    directory: Path
    output: Path
    cells: tuple[Cell, ...]
    environment: Mapping[str, str]

    @property
    def jobs(self) -> Path:
        """The folder of submitit's files."""
        return self.output / ".sweep-jobs"

    def status(self) -> tuple[CellStatus, ...]:
        """Every cell's state; only looks.

        Raises:
            UserError: SLURM cannot be asked about jobs that were given to it; a file of the sweep is damaged.
        """
        return self._status(State(self.output))

    def to_submit(self, *, retry_failed: bool) -> tuple[Cell, ...]:
        """The cells that `submit` would submit now."""
        return self._wanted(State(self.output), retry_failed=retry_failed)

    def submit(self, *, retry_failed: bool) -> tuple[tuple[Cell, str], ...]:
        """Submit the cells that are neither done nor queued nor running, as one array for each kind of job.

        Args:
            retry_failed: Whether cells that failed are submitted again too.

        Returns:
            The cells with their job ids.

        Raises:
            UserError: SLURM does not take the jobs; another submitter is at work.
        """
        submitted: list[tuple[Cell, str]] = []
        with sweep_lock(self.output):
            state = State(self.output)
            wanted = self._wanted(state, retry_failed=retry_failed)
            kinds: dict[str, list[Cell]] = {}
            for cell in wanted:
                kinds.setdefault(cell.slurm.model_dump_json(), []).append(cell)
            for cells in kinds.values():
                executor = _slurm_executor(self.jobs, cells[0].slurm)
                # Written down before and after: a submitter may be killed between SLURM's taking a job and saying so.
                name = f"lm-eval-ita-{uuid.uuid4().hex[:8]}"
                state.asked = {name: {cell.name: cell.digest for cell in cells}}
                state.write()
                executor.update_parameters(name=name)
                jobs = _submit(executor, [self._job(cell) for cell in cells])
                state.asked = {}
                for cell, job in zip(cells, jobs, strict=True):
                    state.submissions[cell.name] = Submission(str(job.job_id), local=False, digest=cell.digest)
                    submitted.append((cell, str(job.job_id)))
                state.write()
        return tuple(submitted)

    def run_local(self, *, retry_failed: bool, tell: Callable[[CellStatus], None]) -> None:
        """Run the cells on this machine, one after another, until all have ended or one is stopped.

        Args:
            retry_failed: Whether cells that failed are run again too.
            tell: Gets each cell as it starts and as it ends.
        """
        for cell in self.to_submit(retry_failed=retry_failed):
            with sweep_lock(self.output):
                state = State(self.output)
                if cell not in self._wanted(state, retry_failed=retry_failed):
                    continue  # another process has taken it meanwhile
                (job,) = _submit(_local_executor(self.jobs, cell.slurm), [self._job(cell, local=True)])
                submission = Submission(str(job.job_id), local=True, digest=cell.digest)
                while not (attempts(cell.folder, submission.job) or job.done()):
                    time.sleep(0.1)  # after this the cell's own files say that it is at work
                state.submissions[cell.name] = submission
                state.write()
            tell(self._one(cell, submission))
            while not job.done():
                time.sleep(0.2)
            ended = self._one(cell, State(self.output).submissions.get(cell.name))
            tell(ended)
            if ended.state in ("stopped", "cancelled"):
                return

    def cancel(self) -> tuple[str, ...]:
        """Stop what is queued or running; what was answered stays.

        Returns:
            The names of the cells.
        """
        with sweep_lock(self.output):
            state = State(self.output)
            alive = [status.cell for status in self._status(state) if status.state in ("queued", "running")]
            submissions = {name: state.submissions[name] for name in alive}
            for name, submission in submissions.items():
                state.submissions[name] = replace(submission, cancelled=True)
            state.write()
            if jobs := [submission.job for submission in submissions.values() if not submission.local]:
                cancel_jobs(jobs)
            for cell in self.cells:
                if cell.name in submissions and submissions[cell.name].local and at_work(cell.folder):
                    # The cell's lock is held, so the process that its file names is the one that holds it.
                    os.kill(attempts(cell.folder, submissions[cell.name].job)[-1].pid, signal.SIGTERM)
        return tuple(alive)

    def _status(self, state: State) -> tuple[CellStatus, ...]:
        given = [state.submissions[cell.name] for cell in self.cells if cell.name in state.submissions]
        queue = queued_jobs() if state.asked or any(not submission.local for submission in given) else {}
        state.recover(queue)
        return tuple(self._one(cell, state.submissions.get(cell.name), queue) for cell in self.cells)

    def _one(
        self, cell: Cell, submission: Submission | None, queue: Mapping[str, QueuedJob] | None = None
    ) -> CellStatus:
        return cell_status(cell.name, cell.folder, self.jobs, submission, cell.digest, queue or {})

    def _wanted(self, state: State, *, retry_failed: bool) -> tuple[Cell, ...]:
        states = ("new", "cancelled", "stopped", *(("failed",) if retry_failed else ()))
        pairs = zip(self.cells, self._status(state), strict=True)
        return tuple(cell for cell, status in pairs if status.state in states)

    def _job(self, cell: Cell, *, local: bool = False) -> CellJob:
        environment: dict[str, str | None] = dict(self.environment)
        if local:  # submitit's local executor hides the GPUs that it was not asked for
            environment.setdefault("CUDA_VISIBLE_DEVICES", os.environ.get("CUDA_VISIBLE_DEVICES"))
        return CellJob(cell.folder, cell.arguments, self.directory, environment, cell.slurm.signal_before)


def open_sweep(file: Path) -> SweepRun:
    """Read a sweep's file and make its cells.

    Raises:
        UserError: The file is wrong: where, and the mend.
    """
    sweep = read_sweep(file)
    directory = file.resolve().parent
    output = (directory / Path(sweep.output).expanduser()).resolve()
    cells = [
        cell
        for model in sweep.models
        for cell in _cells_of(sweep, model, directory, output)
    ]  # fmt: skip
    return SweepRun(directory, output, tuple(cells), sweep.environment)


def _cells_of(sweep: Sweep, model: Model, directory: Path, output: Path) -> list[Cell]:
    model_args = {name: _absolute(name, value, directory) for name, value in model.model_args.items()}
    options = sweep.run_options(model).arguments()
    files = model_files(model_args)
    slurm = sweep.jobs_of(model)
    cells = []
    for name, tasks in sweep.tasks.items():
        folder = output / model.name / name
        asked = [f"--model_args={json.dumps(model_args)}", f"--tasks={','.join(tasks)}", *options]
        written = [f"--output={folder}", f"--json-log={folder / 'events.jsonl'}"]
        content = json.dumps([asked, files, sorted(sweep.environment.items())])
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        cells.append(Cell(f"{model.name}/{name}", folder, ("run", *asked, *written), slurm, digest))
    return cells


def _absolute(name: str, value: Any, directory: Path) -> Any:
    """A model's folder, seen from the sweep's file; everything else as it is."""
    if name in _PATHS and isinstance(value, str) and (path := directory / Path(value).expanduser()).exists():
        return str(path)
    return value


def _submit(executor: Any, jobs: Sequence[CellJob]) -> list[Any]:
    import submitit

    try:
        with redirect_stderr(StringIO()):  # submitit prints what it raises
            return list(executor.submit_array(jobs) if len(jobs) > 1 else [executor.submit(jobs[0])])
    except (submitit.core.utils.FailedJobError, submitit.core.utils.FailedSubmissionError) as error:
        said = [line.removeprefix("sbatch: error: ").strip() for line in str(error).splitlines()]
        raise UserError(f"SLURM does not take the jobs: {'; '.join(filter(None, said))}") from error


def _slurm_executor(folder: Path, slurm: Slurm) -> Any:
    submitit = _submitit()
    try:
        executor = submitit.AutoExecutor(folder, cluster="slurm", slurm_max_num_timeout=slurm.requeues)
    except RuntimeError as error:
        raise UserError("there is no srun here: run this on a machine of a SLURM cluster, or with --local") from error
    wanted: dict[str, Any] = {
        "timeout_min": slurm.time,
        "cpus_per_task": slurm.cpus,
        "slurm_partition": slurm.partition,
        "slurm_array_parallelism": slurm.array_parallelism,
        "slurm_signal_delay_s": slurm.signal_before,
        "slurm_setup": list(slurm.setup) or None,
        # srun does not take over sbatch's number of CPUs (SLURM 22.05 and later).
        "slurm_srun_args": [f"--cpus-per-task={slurm.cpus}"],
        "slurm_additional_parameters": {"requeue": True, **slurm.extra},
    }
    if slurm.gpus:
        wanted["gpus_per_node"] = slurm.gpus
    if slurm.mem is not None:
        wanted["mem_gb"] = slurm.mem
    executor.update_parameters(**{name: value for name, value in wanted.items() if value is not None})
    return executor


def _local_executor(folder: Path, slurm: Slurm) -> Any:
    executor = _submitit().AutoExecutor(folder, cluster="local")
    executor.update_parameters(timeout_min=_LOCAL_MINUTES, gpus_per_node=slurm.gpus)
    return executor


def _submitit() -> Any:
    try:
        import submitit
    except ImportError as error:
        raise UserError('submitit is not installed: pip install "lm-eval-ita[slurm]"') from error
    return submitit
