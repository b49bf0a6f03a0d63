"""`lm-eval-ita new-task`: from a data set to a task with catalogue entry, sample rows and test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lm_eval_ita.authoring.check import Checked, validate
from lm_eval_ita.authoring.new_task.asking import Asker
from lm_eval_ita.authoring.new_task.association import decide_association
from lm_eval_ita.authoring.new_task.decide import decide
from lm_eval_ita.authoring.new_task.plan import KINDS, Request, refuse_strangers
from lm_eval_ita.authoring.new_task.table import read_table
from lm_eval_ita.authoring.new_task.write import check_name, example_of, files_of, files_of_association, write_files

__all__ = ["KINDS", "Asker", "Made", "Request", "new_task"]


@dataclass(frozen=True)
class Made:
    """A task that was written.

    Attributes:
        files: What was written, the task file last.
        example: Its first prompt, the right answer in brackets.
        checked: What `validate` says of it.
    """

    files: tuple[Path, ...]
    example: str
    checked: Checked


def new_task(request: Request, asker: Asker) -> Made:
    """Make a task.

    Args:
        request: What the command line says.
        asker: Asks for what it does not say.

    Raises:
        UserError: Something is missing or wrong; nothing was written then.
    """
    check_name(request.name)
    refuse_strangers(request)
    into = request.into.expanduser()
    if request.kind == "association":
        test = decide_association(request, asker)
        files, example = files_of_association(test, into), test.example
    else:
        plan = decide(request, read_table(request.data, request.config), asker)
        files, example = files_of(plan, into), example_of(plan)
    write_files(files, request.name, into, force=request.force)
    return Made(tuple(files), example, validate([into / f"{request.name}.yaml"]))
