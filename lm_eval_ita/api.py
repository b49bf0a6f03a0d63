"""Evaluating from Python: what `lm-eval-ita run`, `summary`, `compare` and `report` do, for scripts and notebooks.

import lm_eval_ita

results = lm_eval_ita.evaluate("models/minerva", tasks=["itaeval", "itapat"], batch_size=16)
print(results.table())
results.report("report.html")
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lm_eval_ita._quiet import quiet_bars
from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    from lm_eval_ita.results.compare import Comparison
    from lm_eval_ita.results.records import RunRecord

__all__ = ["Results", "evaluate"]

TableFormat = Literal["table", "markdown", "latex", "csv"]
# Of a backend's arguments, the one that names the model.
_NAMED_MODEL = ("completions", "litellm")


@dataclass(frozen=True)
class Results:
    """The results of one run, read from its files whenever they are asked for.

    Attributes:
        path: A results file, or a folder with the files of one model.
    """

    path: str | Path

    @cached_property
    def runs(self) -> "tuple[RunRecord, ...]":
        """The records of the results files.

        Raises:
            UserError: There is no results file, or it cannot be read.
        """
        from lm_eval_ita.results.collect import collect

        found = collect([Path(self.path)])
        if found.problems:
            raise UserError(found.problems[0])
        return tuple(found.runs)

    @property
    def scores(self) -> dict[str, float | None]:
        """Task to its primary metric, on the metric's own scale; None where it is missing."""
        return {
            name: record.metrics.get(record.primary_metric or "score")
            for run in self.runs
            for name, record in run.tasks.items()
        }

    def table(self, form: TableFormat = "table") -> str:
        """The suites' tables: category means, the average where it is whole, every task.

        Args:
            form: "table" for people, "markdown", "latex" (with booktabs) or "csv".
        """
        from lm_eval_ita.results.grid import markdown, plain
        from lm_eval_ita.results.latex import latex
        from lm_eval_ita.results.reference import references
        from lm_eval_ita.results.suite import suite_tables
        from lm_eval_ita.results.summary import as_csv, grids

        renderers = {"table": plain, "markdown": markdown, "latex": latex}
        if form != "csv" and form not in renderers:
            raise UserError(f"there is no table as {form!r}; there are table, markdown, latex, csv")
        tables = suite_tables(self.runs, references())
        if form == "csv":
            return as_csv(tables)
        return "\n\n".join(renderers[form](grid) for table in tables for grid in grids(table))

    def compare(self, other: "Results") -> "Comparison":
        """Another model against this one, document by document: differences (other - this), intervals, paired tests.

        Raises:
            UserError: One of the two holds several models.
        """
        from lm_eval_ita.results.compare import compare, one_model

        first, second = (one_model(results.runs, str(results.path)) for results in (self, other))
        return compare(first, second)

    def report(self, path: str | Path, *, others: "Sequence[Results]" = (), title: str = "ItaEval and ItaP-AT") -> Path:
        """Write one self-contained HTML page: ranking, intervals, figures, samples, settings.

        Args:
            path: The page.
            others: More models on the same page.
            title: Of the page.

        Returns:
            The page's path.

        Raises:
            UserError: There is nothing to show, or the page cannot be written.
        """
        from lm_eval_ita._files import write_whole
        from lm_eval_ita.report.content import gather
        from lm_eval_ita.report.page import html, sections
        from lm_eval_ita.results.collect import collect
        from lm_eval_ita.results.reference import references

        content = gather(collect([Path(results.path) for results in (self, *others)]), references())
        if not content.suites:
            raise UserError("nothing to show: no task of ItaEval or ItaP-AT", file=self.path)
        write_whole(Path(path), html(content, sections(content), title))
        return Path(path)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        """The tables, in a notebook."""
        from html import escape

        return f"<pre>{escape(self.table())}</pre>"


def evaluate(
    model: str | Path,
    tasks: str | Sequence[str],
    *,
    backend: str = "hf",
    model_args: Mapping[str, Any] | None = None,
    output: str | Path = "results",
    data_dir: str | Path | None = None,
    num_fewshot: int | None = None,
    limit: float | None = None,
    batch_size: int | str | None = None,
    device: str | None = "cuda:0",
    apply_chat_template: bool | str = False,
    fewshot_as_multiturn: bool | None = None,
    system_instruction: str | None = None,
    gen_kwargs: Mapping[str, Any] | None = None,
    include_path: str | Path | None = None,
    resume: bool = True,
    progress: bool = True,
) -> Results:
    """Evaluate a model, as `lm-eval-ita run` does: the same folder, figures and going on after an interruption.

    Args:
        model: A folder, a Hub id, or a server's name for the model.
        tasks: Names of tasks and groups ("itaeval", "itapat_gender", "itaeval_x*").
        backend: The harness's model type ("hf", "vllm", "local-completions", ...).
        model_args: More of its arguments (`{"dtype": "bfloat16"}`, `{"base_url": ...}`).
        output: The folder of all runs; this run's is inside, named by model and settings.
        data_dir: Where data sets are looked for first; "sample" for the sample rows.
        num_fewshot: Examples per prompt; each task's own if not given.
        limit: Documents per task, or a share below 1.
        batch_size: Documents at a time, or "auto".
        device: The CPU where there is no such device.
        apply_chat_template: Whether, or which one.
        fewshot_as_multiturn: Whether examples are turns of a conversation; with a template they are unless forbidden.
        system_instruction: The system message.
        gen_kwargs: Generation settings in the place of the tasks' own.
        include_path: A folder with more task files.
        resume: Whether to go on with what an earlier call left.
        progress: Whether to show bars and a line for each finished task.

    Returns:
        The results of the run.

    Raises:
        UserError: An argument is wrong; data, a scorer or the model cannot be had.
        RunFailedError: A task failed (the others are done, and the same call tries only the failed ones again), or the
            disk or the memory is full.
    """
    if not isinstance(model, str | Path):
        raise UserError(f"model is a {type(model).__name__}; give a folder (save_pretrained) or a name")
    quiet_bars(backend)
    from lm_eval_ita.run.backends import default_batch_size
    from lm_eval_ita.run.failures import RunFailedError
    from lm_eval_ita.run.runner import run
    from lm_eval_ita.run.settings import Settings

    argument = "model" if any(part in backend for part in _NAMED_MODEL) else "pretrained"
    settings = Settings(
        tasks=(tasks,) if isinstance(tasks, str) else tuple(tasks),
        model=backend,
        model_args={argument: str(model), **(model_args or {})},
        num_fewshot=num_fewshot,
        batch_size=default_batch_size(backend) if batch_size is None else str(batch_size),
        device=device,
        limit=limit,
        apply_chat_template=apply_chat_template,
        fewshot_as_multiturn=fewshot_as_multiturn
        if fewshot_as_multiturn is not None or not apply_chat_template
        else True,
        system_instruction=system_instruction,
        gen_kwargs=gen_kwargs or {},
        metadata={} if data_dir is None else {"data_dir": str(data_dir)},
        include_path=None if include_path is None else str(include_path),
    )
    reporter = _watching(progress=progress)
    try:
        run(settings, Path(output), resume=resume, reporter=reporter)
    except UserError as error:
        if not reporter.lacking:
            raise
        raise UserError(f"{error}: {'; '.join(reporter.lacking)}") from error
    if reporter.failed:
        raise RunFailedError(f"{', '.join(reporter.failed)} failed; the others are in {reporter.results}")
    assert reporter.results is not None
    return Results(reporter.results)


def _watching(*, progress: bool) -> Any:
    """A reporter that keeps where the results are, and what was missing."""
    from rich.console import Console

    from lm_eval_ita.run.progress import Reporter

    class Watching(Reporter):
        results: Path | None = None
        failed: tuple[str, ...] = ()
        lacking: tuple[str, ...] = ()

        def missing(self, task: str, why: str) -> None:
            self.lacking = (*self.lacking, f"{task}: {why}")
            super().missing(task, why)

        def run_finished(self, results: Path, failed: Sequence[str], warnings: int) -> None:
            self.results, self.failed = results, tuple(failed)
            super().run_finished(results, failed, warnings)

    return Watching(Console() if progress else None)
