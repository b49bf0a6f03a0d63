"""From what is given to `validate` to task files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from lm_eval_ita._yaml import FastLoader
from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.own import CATALOGUE
from lm_eval_ita.harness.task_files import tasks_path

__all__ = ["task_files"]

# Association tests' list files, which are no tasks, as the catalogue is none.
LISTS = "lists"


def task_files(targets: Sequence[str | Path]) -> list[Path]:
    """The task files that are meant, each once.

    Args:
        targets: Names of tasks or groups of ours (a group with all it holds), files, or folders. None: all of ours.

    Raises:
        UserError: A target is none of these.
    """
    found: dict[Path, None] = {}
    for target in targets or [tasks_path()]:
        found.update(dict.fromkeys(_files(target)))
    return list(found)


def _files(target: str | Path) -> list[Path]:
    path = Path(target).expanduser()
    if path.is_dir():
        files = sorted(file for file in _yaml_files(path) if not _is_data(file))
        if not files:
            raise UserError("holds no task file (*.yaml; hidden and installed folders are not searched)", file=path)
        return files
    if path.is_file():
        return [path]
    if str(target) in facts.own_names():
        return _named(str(target))
    mend = did_you_mean(
        str(target), facts.own_names(), "`lm-eval-ita list` shows ours; for others name their file or folder"
    )
    raise UserError(f"{target} is neither a task of ours nor a file or folder; {mend}")


def _yaml_files(root: Path) -> Iterator[Path]:
    """All in a folder but those that are installed there: a virtual environment holds 14,000 of the harness."""
    for folder, below, names in os.walk(root):
        inside = Path(folder)
        below[:] = [
            name
            for name in below
            if not name.startswith(".")
            and name not in ("node_modules", "site-packages")
            and not (inside / name / "pyvenv.cfg").exists()
        ]
        yield from (inside / name for name in names if name.endswith(".yaml"))


def _is_data(file: Path) -> bool:
    return file.name == CATALOGUE or file.parent.name == LISTS


def _named(name: str) -> list[Path]:
    """The file of a name of ours, and of all that it holds."""
    path = facts.own_names()[name][1]
    content = yaml.load(path.read_text(encoding="utf-8").replace("!function ", ""), Loader=FastLoader)
    members = content.get("task") if "group" in content else []
    return [path, *(file for member in members for file in _named(str(member)))]
