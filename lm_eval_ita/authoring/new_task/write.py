"""The files of a new task: what each holds, and putting them where they belong."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.new_task.catalogue_text import catalogue_text, has_entry
from lm_eval_ita.authoring.new_task.plan import AssociationPlan, Plan
from lm_eval_ita.authoring.new_task.task_text import association_text, task_text
from lm_eval_ita.authoring.new_task.tests_text import test_text
from lm_eval_ita.authoring.rendering import compiled
from lm_eval_ita.catalogue import keys
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.own import CATALOGUE, prepare

__all__ = ["check_name", "example_of", "files_of", "files_of_association", "write_files"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SAMPLE_ROWS = 10


def check_name(name: str) -> None:
    """Refuse a name that a task cannot have.

    Raises:
        UserError: It is not a word, or somebody else's.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"the name {name!r} must be a letter and then letters, digits or underscores")
    for names, whose in ((facts.installed_names(), "the harness"), (facts.own_names(), "lm-eval-ita")):
        if name in names:
            raise UserError(f"{name} is the name of a {names[name][0]} of {whose}; choose another")
    if name in keys():
        raise UserError(f"{name} is a data set of lm-eval-ita's own catalogue; choose another name")


def files_of(plan: Plan, into: Path) -> dict[Path, str]:
    """The files of a task over rows, the task file last."""
    files: dict[Path, str] = {}
    if plan.keep_samples:
        folder = into / "samples" / plan.name
        for split, rows in plan.used.items():
            files[folder / f"{split}.jsonl"] = "".join(
                json.dumps(row, ensure_ascii=False) + "\n" for row in _some(rows)
            )
        files[folder / "LICENCE.txt"] = (
            f"Rows of {plan.about.title} ({plan.about.paper}). Licence: {plan.about.licence}.\n"
        )
    first = _asked(plan) if plan.keep_samples else None
    files[into / CATALOGUE] = catalogue_text(into / CATALOGUE, plan)
    files[into / f"test_{plan.name}.py"] = test_text(plan.name, sample=plan.keep_samples, first=first)
    files[into / f"{plan.name}.yaml"] = task_text(plan)
    return files


def files_of_association(plan: AssociationPlan, into: Path) -> dict[Path, str]:
    """The files of an association test, the task file last."""
    files = {into / "lists" / f"{plan.name}.yaml": plan.text}
    if plan.lexicon is not None:
        files[into / "lists" / plan.lexicon[0]] = plan.lexicon[1]
    files[into / f"test_{plan.name}.py"] = test_text(plan.name, sample=False, first=None)
    files[into / f"{plan.name}.yaml"] = association_text(plan)
    return files


def _asked(plan: Plan) -> tuple[str, object, object]:
    """Prompt, target and choices of the first evaluated row."""
    row = plan.used[plan.evaluated][0]
    document = {**row, **prepare(row, plan.columns)}
    choices = document.get("options") or (None if plan.options is None else list(plan.options))
    return compiled(plan.prompt).render(**document), document["gold" if plan.kind == "generation" else "label"], choices


def example_of(plan: Plan) -> str:
    """The first prompt with its right answer in brackets, for whoever made the task to look at."""
    prompt, target, choices = _asked(plan)
    right = choices[target] if isinstance(choices, list) and isinstance(target, int) else target
    return f"{prompt} [{right}]"


def _some(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Ten rows, evenly spread, the first among them."""
    count = min(_SAMPLE_ROWS, len(rows))
    return [rows[len(rows) * number // count] for number in range(count)]


def write_files(files: Mapping[Path, str], name: str, into: Path, *, force: bool) -> None:
    """Write all files, each beside its place and then moved there.

    Raises:
        UserError: One is there already and `force` is not given; nothing is written then. Or one cannot be written.
    """
    if not force:
        for path in files:
            if path.exists() and path.name != CATALOGUE:
                raise UserError("is there already; --force replaces it", file=path)
        if has_entry(into / CATALOGUE, name):
            raise UserError(f"has a data set {name} already; --force replaces it", file=into / CATALOGUE)
    for path, text in files.items():
        write_whole(path, text)
