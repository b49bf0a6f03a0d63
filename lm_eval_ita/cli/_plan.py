"""The table of `lm-eval-ita run --plan`."""

from typing import TYPE_CHECKING

from lm_eval_ita.results.grid import Grid, displayed, plain

if TYPE_CHECKING:
    from lm_eval_ita.run.plan import Plan, TaskPlan

__all__ = ["plan_text"]

_HEADER = ("Task", "Data", "Scorer", "Rows", "Requests", "Tokens in", "New tokens", "Time")


def plan_text(plan: "Plan") -> str:
    """A plan for people, with one line for everything that is missing."""
    notes = [
        "Tokens in: estimated from some documents. New tokens: the most that can be generated. Time: from a short "
        "probe; ~ by other tasks of the same kind. Scorer models come on top."
    ]
    if plan.seconds is not None:
        notes.insert(0, f"In all about {_time(plan.seconds)}, {_time(plan.load_seconds or 0)} of it loading the model.")
    if any("sample" in entry for task in plan.tasks for entry in task.data):
        notes.append("SAMPLE DATA, NOT COMPARABLE")
    grid = Grid(
        f"Plan: {plan.folder}", _HEADER, (*map(_row, plan.tasks), _total(plan)), tuple(notes), 3, (len(plan.tasks),)
    )
    missing = [f"missing: {task.task}: {task.missing}" for task in plan.missing]
    return "\n".join([plain(grid), *missing])


def _row(task: "TaskPlan") -> tuple[str, ...]:
    scorer = "" if task.scorer is None else displayed(task.scorer, 30)
    if task.missing is not None:
        return (displayed(task.task), _data(task), scorer, "missing", "", "", "", "")
    time = "done" if task.done else "" if task.seconds is None else ("" if task.probed else "~") + _time(task.seconds)
    numbers = (task.documents, task.requests, task.tokens_in, task.tokens_out)
    return (displayed(task.task), _data(task), scorer, *map(_number, numbers), time)


def _data(task: "TaskPlan") -> str:
    return ", ".join(displayed(entry.replace("_", " "), 40) for entry in task.data)


def _total(plan: "Plan") -> tuple[str, ...]:
    left = [task for task in plan.tasks if not task.done and task.missing is None]
    columns = zip(*((task.documents, task.requests, task.tokens_in, task.tokens_out) for task in left), strict=True)
    sums = [None if None in column else sum(value for value in column if value is not None) for column in columns]
    return ("to do", "", "", *map(_number, sums or (0,) * 4), "" if plan.seconds is None else _time(plan.seconds))


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
