"""A loaded model, and one task after another evaluated with it and saved."""

import gc
import time
import traceback
from collections.abc import Mapping
from typing import Any

from lm_eval_ita._memory import is_out_of_memory
from lm_eval_ita.run.answers import AnswerLog
from lm_eval_ita.run.blocks import BatchSizes
from lm_eval_ita.run.blockwise import BlockwiseLM, HelperDoneError, OtherProcessError, Session
from lm_eval_ita.run.cost import Meter, add_costs
from lm_eval_ita.run.failures import RunFailedError, StoppedError
from lm_eval_ita.run.final import model_facts, task_content
from lm_eval_ita.run.folder import FolderError, RunFolder
from lm_eval_ita.run.processes import Processes
from lm_eval_ita.run.progress import Reporter
from lm_eval_ita.run.settings import Settings
from lm_eval_ita.run.signals import Termination
from lm_eval_ita.run.tasks import count_documents, dump, evaluate_task, sample_lines, task_hash

__all__ = ["Evaluation"]


class Evaluation:
    """Evaluates tasks with one model, in every process of the run.

    Attributes:
        failed: Tasks that could not be finished, and why.
    """

    def __init__(
        self,
        lm: Any,
        settings: Settings,
        processes: Processes,
        reporter: Reporter,
        termination: Termination,
        folder: RunFolder | None,
    ) -> None:
        """Prepare for the tasks of a run.

        Args:
            lm: The harness's model.
            settings: The run's.
            processes: Who shares the work.
            reporter: Who is told.
            termination: Whether somebody asked for the end.
            folder: Where it is saved; None in the processes that help.
        """
        self.failed: dict[str, str] = {}
        self._lm, self._settings, self._processes = lm, settings, processes
        self._reporter, self._termination, self._folder = reporter, termination, folder
        self._meter = Meter(lm, counts_machine=processes.first_of_machine)
        self._batches = BatchSizes(lm, settings.batch_size)
        self._model = model_facts(lm, settings) if folder is not None else {}

    def run(self, name: str, task: Any) -> None:
        """Evaluate a task and save it; what goes wrong in it is recorded, so that the others can go on.

        Raises:
            StoppedError: SIGTERM came.
            RunFailedError, FolderError: The folder cannot be written any more.
        """
        self._termination.wait_for_block = True
        try:
            if self._folder is None:
                self._results(name, task, None)
            else:
                self._evaluate(name, task, self._folder)
        except (RunFailedError, FolderError):
            raise
        except HelperDoneError:
            pass
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is this task's: the others may be finished
            self._fail(name, error)
        finally:
            self._termination.wait_for_block = False
        self._free_memory()
        if self._termination.asked:
            raise StoppedError

    def _evaluate(self, name: str, task: Any, folder: RunFolder) -> None:
        started = time.perf_counter()
        log = AnswerLog(folder.answers(name))
        try:
            before = add_costs(log.costs)["model_seconds"] or 0.0
            results = self._results(name, task, log)
        finally:
            log.close()
        samples = results.pop("samples", {}).get(name)
        if samples is not None:
            folder.write(folder.samples(name), sample_lines(samples))
        cost = {
            "wall_seconds": before + time.perf_counter() - started,
            **add_costs(log.costs),
            "device": self._meter.device,
            "processes": self._processes.count,
        }
        record = {
            **task_content(results, name),
            "task_hash": None if samples is None else task_hash(samples),
            "batch_sizes": log.all_batches(),
            "model": self._model,
            "cost": cost,
        }
        folder.finish_task(name, dump(record))
        self._tell(name, results, cost, folder)

    def _results(self, name: str, task: Any, log: AnswerLog | None) -> dict[str, Any]:
        self._meter.reset_peaks()
        self._reporter.task_started(name, count_documents(task, self._settings))
        session = Session(
            processes=self._processes,
            batches=self._batches,
            meter=self._meter,
            stopping=lambda: self._termination.asked,
            seed=self._settings.seeds[2],
            log=log,
            progress=lambda documents, requests, before: self._reporter.answered(
                name, documents, requests, before=before
            ),
        )
        return evaluate_task(BlockwiseLM(self._lm, session), name, task, self._settings)

    def _tell(self, name: str, results: Mapping[str, Any], cost: dict[str, Any], folder: RunFolder) -> None:
        # Statistics, half a second of imports: not before the first request.
        from lm_eval_ita.results.headline import headline

        samples = folder.samples(name) if self._settings.log_samples else None
        self._reporter.task_finished(name, headline(name, {**results, "config": {}}, samples), cost)

    def _fail(self, name: str, error: Exception) -> None:
        if isinstance(error, OtherProcessError):
            trace, why = str(error), str(error).strip().rpartition("\n")[2]
        else:
            trace, why = traceback.format_exc(), f"{type(error).__name__}: {error}"
        why = " ".join(why.split())[:300]
        if is_out_of_memory(error) or "OutOfMemoryError" in why:
            why = f"out of memory; run again with a smaller --batch_size to go on ({why})"
        self.failed[name] = why
        if self._folder is not None:
            self._folder.record_failure(name, trace)
        self._reporter.task_failed(name, why)

    def _free_memory(self) -> None:
        gc.collect()
        if self._meter.on_gpu:
            import torch

            torch.cuda.empty_cache()
