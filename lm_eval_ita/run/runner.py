"""The run: one model, its tasks one after another, each saved when it ends."""

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.backends import check_model_type, load_model
from lm_eval_ita.run.evaluation import Evaluation
from lm_eval_ita.run.failures import RunFailedError
from lm_eval_ita.run.final import final_content
from lm_eval_ita.run.folder import RunFolder, open_folder
from lm_eval_ita.run.harness_log import harness_log
from lm_eval_ita.run.processes import Processes, start_processes
from lm_eval_ita.run.progress import Reporter
from lm_eval_ita.run.selection import Selection, select, task_manager
from lm_eval_ita.run.settings import Settings, folder_name, identity
from lm_eval_ita.run.signals import Termination
from lm_eval_ita.run.tasks import count_documents, dump, load_task

__all__ = ["run"]


def run(settings: Settings, output: Path, *, resume: bool, reporter: Reporter) -> int:
    """Evaluate a model on tasks, going on from whatever an earlier run of the same kind left.

    Args:
        settings: The harness's options.
        output: The folder of all runs; this one's is inside, named by model and settings.
        resume: Whether to go on with what is there; otherwise it is set aside.
        reporter: Who is told.

    Returns:
        0; 1 where a task failed.

    Raises:
        UserError: An option is wrong; data, a scorer or the model cannot be had; the folder is another run's or cannot
            be written.
        RunFailedError: A full disk, a model that does not fit into memory.
        StoppedError: SIGTERM came; everything answered is saved.
    """
    check_model_type(settings.model)
    manager = task_manager(settings)
    selection = select(settings, manager)
    processes = start_processes()
    with Termination() as termination:
        work = _Work(settings, manager, selection, processes, reporter, termination)
        if not processes.leads:
            return work.help()
        try:
            content = identity(settings, selection.tasks)
            with open_folder(output, folder_name(settings, content), content, resume=resume) as folder:
                return work.lead(folder)
        finally:
            work.release_helpers()
            reporter.close()


@dataclass
class _Work:
    """What the steps of a run share."""

    settings: Settings
    manager: Any
    selection: Selection
    processes: Processes
    reporter: Reporter
    termination: Termination
    helpers_wait: bool = True

    def lead(self, folder: RunFolder) -> int:
        """The whole run, in the process that owns the folder."""
        with harness_log(folder.path / "harness.log") as warnings:
            self.reporter.open_log(folder.path / "log.jsonl")
            names = list(self.selection.tasks)
            done = [name for name in names if self._is_done(folder, name)]
            pending = [name for name in names if name not in done]
            self.reporter.run_started(folder.path, names, done)
            tasks = self._load_tasks(pending)
            self.release_helpers(pending)
            failed = self._evaluate(pending, tasks, folder) if pending else {}
            if pending or not folder.results.exists():
                self._write_results(folder)
            self.reporter.run_finished(folder.results, list(failed), warnings.count)
        return 1 if failed else 0

    def help(self) -> int:
        """What the other processes do: load the model, and answer their share of every task."""
        logging.disable(logging.ERROR)  # the leading process says it
        pending: list[str] | None = self.processes.share(None)
        if pending is None:
            return 1  # the leading process says why
        return 1 if pending and self._evaluate(pending, {}, None) else 0

    def release_helpers(self, pending: list[str] | None = None) -> None:
        """Tell the other processes what is to be done, or that there is nothing; once."""
        if self.helpers_wait:
            self.helpers_wait = False
            self.processes.share(pending)

    def _is_done(self, folder: RunFolder, name: str) -> bool:
        return folder.done(name) is not None and (not self.settings.log_samples or folder.samples(name).exists())

    def _load_tasks(self, pending: list[str]) -> dict[str, Any]:
        """Build the tasks before the model is loaded: what is missing is said now, all of it."""
        tasks = {}
        for name in pending:
            try:
                tasks[name] = load_task(self.manager, name, self.settings)
            except UserError as error:
                self.reporter.missing(name, str(error))
        if missing := len(pending) - len(tasks):
            raise UserError(f"{missing} of {len(pending)} tasks cannot be run; the model was not loaded")
        return tasks

    def _evaluate(self, pending: list[str], tasks: dict[str, Any], folder: RunFolder | None) -> dict[str, str]:
        """Evaluate what is to be done; returns what failed, and why."""
        started = time.perf_counter()
        self.reporter.model_loading(self.settings.model_name)
        lm = self._load_model()
        documents = sum(count_documents(task, self.settings) for task in tasks.values())
        self.reporter.model_loaded(self.settings.model_name, time.perf_counter() - started, documents)
        if why := getattr(lm, "not_packed", None):
            self.reporter.not_packed(why)
        evaluation = Evaluation(lm, self.settings, self.processes, self.reporter, self.termination, folder)
        for name in pending:
            # Taken out of the dictionary, so that its data is freed when the task ends.
            task = tasks.pop(name, None) or load_task(self.manager, name, self.settings)
            evaluation.run(name, task)
        return evaluation.failed

    def _load_model(self) -> Any:
        """Load the model in every process, and give up in all where one cannot."""
        lm: Any = None
        problem: UserError | RunFailedError | None = None
        try:
            lm = load_model(self.settings)
        except (UserError, RunFailedError) as error:
            problem = error
        problems = [found for found in self.processes.gather(problem) if found is not None]
        first = self.processes.share(problems[0] if problems else None)
        if first is not None:
            raise first
        return lm

    def _write_results(self, folder: RunFolder) -> None:
        records = {name: record for name in self.selection.tasks if (record := folder.done(name)) is not None}
        if not records:
            raise RunFailedError("every task failed; there are no results")
        content = final_content(self.settings, self.selection, records, folder)
        folder.write(folder.results, [dump(content, indent=2)])
