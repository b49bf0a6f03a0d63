"""What a report shows, gathered from result files: tables, intervals, samples. Reading, no rendering."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lm_eval_ita.report.estimates import Estimates, estimates
from lm_eval_ita.report.viewer import Part, held_part
from lm_eval_ita.results.collect import Collection
from lm_eval_ita.results.labels import model_labels
from lm_eval_ita.results.records import RunRecord, Suite, TaskRecord
from lm_eval_ita.results.reference import Reference
from lm_eval_ita.results.suite import Row, SuiteTable, suite_tables

__all__ = ["Content", "Measured", "SampledTask", "Suited", "gather"]

# (what is being done, done so far, of how many)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Suited:
    """One suite's table with its intervals."""

    table: SuiteTable
    estimates: Estimates


@dataclass(frozen=True)
class Measured:
    """One task as one model was measured on it.

    Attributes:
        model: The model's label, the same all over the report.
        run: The results file.
        record: The task.
    """

    model: str
    run: RunRecord
    record: TaskRecord


@dataclass(frozen=True)
class SampledTask:
    """The samples held of one task of one model."""

    model: str
    task: str
    source: Path
    part: Part


@dataclass(frozen=True)
class Content:
    """Everything in a report.

    Attributes:
        suites: The suites with a figure.
        measured: Every task of every run, in the order of the files.
        samples: What the viewer holds; empty where no samples were logged.
        most: How many samples are held of a task and model at most.
        problems: One line for each file that could not be read, or only in part.
        notes: What was left out, or has no interval, and why.
    """

    suites: tuple[Suited, ...]
    measured: tuple[Measured, ...]
    samples: tuple[SampledTask, ...]
    most: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_sample_data(self) -> bool:
        """Whether any figure was measured on the sample rows that come with the package."""
        return any(task.record.data == "sample" for task in self.measured)

    def tasks(self, suite: Suite) -> list[Measured]:
        """What was measured of one suite."""
        return [task for task in self.measured if task.record.suite == suite]


def gather(
    found: Collection,
    references: Mapping[str, Reference],
    published: Mapping[Suite, Sequence[Row]] | None = None,
    *,
    most: int = 30,
    progress: Progress = lambda *_: None,
) -> Content:
    """Make the tables and intervals of all runs, and stream their samples.

    Args:
        found: The runs, read with details.
        references: The suites as they are installed.
        published: Rows of published figures to show beside them.
        most: How many samples to hold of each task and model; 0 for none.
        progress: Called before each step.
    """
    labels = _labels(found.runs)
    measured = [Measured(labels[run.model.key], run, record) for run in found.runs for record in run.tasks.values()]
    tables = suite_tables(found.runs, references, published)
    logged = [task for task in measured if task.record.samples is not None and most > 0]
    steps = len(tables) + len(logged)
    suites = []
    for step, table in enumerate(tables):
        progress(f"Intervals of {table.suite}", step, steps)
        suites.append(Suited(table, estimates(table)))
    samples = []
    for step, task in enumerate(logged, start=len(tables)):
        progress(f"Samples of {task.record.name}", step, steps)
        assert task.record.samples is not None
        part = held_part(task.record, most)
        samples.append(SampledTask(task.model, task.record.name, task.record.samples, part))
    progress("Done", steps, steps)
    damaged = dict.fromkeys(sample.part.problem for sample in samples if sample.part.problem)
    return Content(
        suites=tuple(suites),
        measured=tuple(measured),
        samples=tuple(samples),
        most=most,
        problems=(*found.problems, *(problem for problem in damaged if problem)),
        notes=(*found.left_out(), *(remark for suited in suites for remark in suited.estimates.remarks)),
    )


def _labels(runs: Sequence[RunRecord]) -> dict[tuple[str | None, ...], str]:
    models = {run.model.key: run.model for run in runs}
    return dict(zip(models, model_labels(list(models.values())), strict=True))
