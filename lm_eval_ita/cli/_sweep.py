"""The table of `lm-eval-ita sweep --status`, and its JSON."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.results.grid import Grid, displayed, plain

if TYPE_CHECKING:
    from lm_eval_ita.run.sweep_status import CellStatus

__all__ = ["as_records", "status_text"]

_HEADER = ("Cell", "State", "Note", "Job", "Tasks", "Score", "Time")


def status_text(output: Path, statuses: Sequence["CellStatus"]) -> str:
    """The table, and the end of the log of what failed."""
    counts = Counter(status.state for status in statuses)
    said = ", ".join(f"{number} {state}" for state, number in counts.items())
    grid = Grid(f"Sweep: {output}", _HEADER, tuple(map(_row, statuses)), (f"{len(statuses)} cells: {said}",), 4)
    parts = [plain(grid)]
    for status in statuses:
        if status.state == "failed":
            # Whatever the log holds, the terminal shows text: no colours, nothing that writes over a line.
            lines = [f"    {displayed(line, 400)}" for line in status.log]
            parts.append("\n".join(["", f"{status.cell}, job {status.job}: {status.note}", *lines]))
    return "\n".join(parts)


def as_records(statuses: Sequence["CellStatus"]) -> list[dict[str, Any]]:
    """The cells for programs."""
    return [
        {
            "cell": status.cell,
            "state": status.state,
            "job": status.job,
            "note": status.note,
            "tasks": list(status.progress.tasks),
            "tasks_done": list(status.progress.done),
            "scores": {
                task: {"metric": metric, "score": score} for task, (metric, score) in status.progress.scores.items()
            },
            "seconds": status.seconds,
            "results": None if status.progress.results is None else str(status.progress.results),
            "log": list(status.log),
        }
        for status in statuses
    ]


def _row(status: "CellStatus") -> tuple[str, ...]:
    progress = status.progress
    tasks = f"{len(progress.done)}/{len(progress.tasks)}" if progress.tasks else ""
    note = "" if status.state == "failed" else displayed(status.note, 40)
    return (
        displayed(status.cell),
        status.state,
        note,
        status.job or "",
        tasks,
        _score(status),
        "" if status.seconds is None else _time(status.seconds),
    )


def _score(status: "CellStatus") -> str:
    """The one task's score, or the group's own mean; tasks that no group joins have no common score."""
    progress = status.progress
    if len(progress.tasks) == 1:
        scores = [score for _, score in progress.scores.values() if score is not None]
        return f"{scores[0]:.4f}" if scores else ""
    if status.state != "done" or progress.results is None:
        return ""
    try:
        content = json.loads(progress.results.read_text(encoding="utf-8"))
        whole = [
            figures
            for name, figures in content["groups"].items()
            if set(progress.tasks) <= set(_members(name, content["group_subtasks"]))
        ]
        figure = whole[0].get("score,none") if whole else None
    except (OSError, ValueError, KeyError, AttributeError):
        return ""  # the table of a sweep is no reader of results: `summary` says what is wrong with the file
    return f"{figure:.4f}" if isinstance(figure, float) and math.isfinite(figure) else ""


def _members(name: str, groups: dict[str, list[str]]) -> list[str]:
    found = []
    for member in groups.get(name, []):
        found += _members(member, groups) if member in groups else [member]
    return found


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
