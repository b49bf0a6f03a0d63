"""What a run says while it works: bars and lines for people, one JSON object a line for programs."""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lm_eval_ita.run.folder import disk_errors

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from lm_eval_ita.results.headline import Headline
    from lm_eval_ita.run.plan import Plan

__all__ = ["Reporter"]


class Reporter:
    """Tells of a run's events. Each method is one event; its arguments are what a line of the log holds."""

    def __init__(self, console: "Console | None" = None, json_log: TextIO | None = None) -> None:
        """Choose who is told.

        Args:
            console: For people: lines, and bars where it is a terminal. None for silence.
            json_log: For programs.
        """
        self._console = console
        self._logs: list[TextIO] = [] if json_log is None else [json_log]
        self._own: TextIO | None = None
        self._bars: Progress | None = None
        self._run_bar: Any = None
        self._task_bar: Any = None
        self._said_sample = False

    def open_log(self, path: Path) -> None:
        """Keep the events in the run's folder too."""
        with disk_errors(path):
            self._own = path.open("a", encoding="utf-8")
        self._logs.append(self._own)

    def close(self) -> None:
        """Take the bars away and close the run's own log."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None
        if self._own is not None:
            self._logs.remove(self._own)
            with suppress(OSError):  # a full disk: whoever wrote last has said so
                self._own.close()
            self._own = None

    def planned(self, text: str, plan: "Plan") -> None:
        """What would be run."""
        tasks = [vars(task) for task in plan.tasks]
        self._log("plan", folder=str(plan.folder), tasks=tasks, seconds=plan.seconds)
        self._say(text)

    def run_started(self, folder: Path, tasks: Sequence[str], done: Sequence[str]) -> None:
        """The tasks are known, and which of them are done already."""
        self._log("run_started", folder=str(folder), tasks=list(tasks), done=list(done))
        more = f", {len(done)} done already" if done else ""
        self._say(f"{_counted(len(tasks), 'task')}{more}: {folder}")

    def verified(self, folder: Path, files: int, bytes_read: int, *, remembered: bool) -> None:
        """A prepared folder is what its manifest says; whether the next run can do without reading it again."""
        self._log("verified", folder=str(folder), files=files, bytes_read=bytes_read, remembered=remembered)
        if not remembered:
            self._say("note: the check cannot be remembered; set LM_EVAL_ITA_CACHE to a folder that can be written")

    def missing(self, task: str, why: str) -> None:
        """A task cannot be run: its data or its scorer is not there. Or a model or file of a prepared folder is not."""
        self._log("missing", task=task, why=why)
        self._say(f"{task}: {why}")

    def model_loading(self, model: str) -> None:
        """The model is about to be loaded, which may take minutes."""
        self._log("model_loading", model=model)
        if self._console is not None and self._console.is_terminal:
            self._say(f"loading {model}")

    def model_loaded(self, model: str, seconds: float, documents: int) -> None:
        """The model is there, and how many documents are left."""
        self._log("model_loaded", model=model, seconds=seconds, documents=documents)
        if self._console is not None and _shows_bars(self._console):
            self._bars = _bars(self._console)
            self._run_bar = self._bars.add_task("run", total=documents)
            self._bars.start()

    def not_packed(self, why: str) -> None:
        """`hf-packed` goes the way of `hf`, which is right but slow."""
        self._log("not_packed", why=why)
        self._say(f"note: hf-packed scores this model as hf does: {why}")

    def task_started(self, task: str, documents: int) -> None:
        """A task begins, or goes on."""
        self._log("task_started", task=task, documents=documents)
        if self._bars is not None:
            self._task_bar = self._bars.add_task(task, total=documents)

    def answered(self, task: str, documents: int, requests: int, *, before: bool) -> None:
        """A block is answered and saved, or was before this process began."""
        self._log("answered", task=task, documents=documents, requests=requests, before=before)
        if self._bars is not None:
            self._bars.advance(self._run_bar, documents)
            self._bars.advance(self._task_bar, documents)

    def task_finished(self, task: str, headline: "Headline", cost: dict[str, Any]) -> None:
        """A task is done and saved."""
        self._log("task_finished", task=task, **vars(headline), cost=cost)
        self._end_task()
        if headline.sample and not self._said_sample:
            self._say("SAMPLE DATA, NOT COMPARABLE")
            self._said_sample = True
        self._say(f"{task:<34} {headline.text:<42} {_duration(cost['wall_seconds']):>8}")

    def task_failed(self, task: str, why: str) -> None:
        """A task could not be finished; the others go on."""
        self._log("task_failed", task=task, why=why)
        self._end_task()
        self._say(f"{task:<34} FAILED: {why}")

    def run_finished(self, results: Path, failed: Sequence[str], warnings: int) -> None:
        """Everything that can be done is."""
        self._log("run_finished", results=str(results), failed=list(failed), warnings=warnings)
        if warnings:
            self._say(f"{_counted(warnings, 'warning')} of the harness: {results.with_name('harness.log')}")
        if failed:
            self._say(f"failed: {', '.join(failed)}; run again to try only these")
        self._say(f"results: {results}")

    def stopped(self, why: str) -> None:
        """The run ends early; what was answered is saved."""
        self._log("stopped", why=why)
        self._say(f"stopped ({why}); run again to go on")

    def _end_task(self) -> None:
        if self._bars is not None and self._task_bar is not None:
            self._bars.remove_task(self._task_bar)
            self._task_bar = None

    def _say(self, text: str) -> None:
        if self._console is not None:
            # Names out of files are no markup, and a line in a pipe is not folded.
            self._console.print(text.rstrip(), markup=False, highlight=False, soft_wrap=True)

    def _log(self, event: str, **fields: Any) -> None:
        now = datetime.fromtimestamp(time.time(), tz=timezone.utc).isoformat(timespec="milliseconds")
        line = json.dumps({"event": event, "time": now, **fields}, ensure_ascii=False)
        for log in self._logs:
            with disk_errors(Path(log.name)):
                log.write(line + "\n")
                log.flush()


def _shows_bars(console: "Console") -> bool:
    """Whether a line can be drawn anew: on a terminal, and in a notebook that has widgets."""
    return console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)


def _bars(console: "Console") -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("documents"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
