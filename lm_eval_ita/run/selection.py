"""From the names given to `--tasks` to tasks and groups, without loading any data."""

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import tasks_path
from lm_eval_ita.run.settings import Settings

__all__ = ["Selection", "select", "task_manager"]


@dataclass(frozen=True)
class Selection:
    """What a run evaluates.

    Attributes:
        tasks: Name to version: the version that the task declares and a hash of its file, in the order of the run.
        groups: Name to the group's configuration, whose "task" is the list of its members' names; parents come after
            their members.
    """

    tasks: Mapping[str, str]
    groups: Mapping[str, Mapping[str, Any]]


def task_manager(settings: Settings) -> Any:
    """The harness's `TaskManager` over our task files and the user's folder, without its 14,000 built-in names."""
    from lm_eval.tasks import TaskManager

    folders = [str(tasks_path()), *([settings.include_path] if settings.include_path else [])]
    return TaskManager(
        include_path=folders, include_defaults=False, metadata={**settings.model_args, **settings.metadata}
    )


def select(settings: Settings, manager: Any) -> Selection:
    """Resolve the names of tasks, groups and tags, patterns included.

    A task that is named twice, or by itself and in a group, is run once.

    Raises:
        UserError: A name is unknown (the nearest ones are offered), or a group is not a plain list of names.
    """
    index = manager.task_index
    tasks: dict[str, None] = {}  # in order, without repeats
    groups: dict[str, Mapping[str, Any]] = {}
    for wanted in settings.tasks:
        names = manager.match_tasks([wanted])
        if not names:
            raise UserError(_unknown(wanted, index))
        for name in names:
            _add(name, index, tasks, groups)
    versions = {name: _version(index[name].cfg or {}, manager.include_path) for name in tasks}
    return Selection(versions, groups)


def _unknown(name: str, index: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(index), n=3, cutoff=0.5)
    offer = f"did you mean {' or '.join(near)}? " if near else ""
    return f"there is no task {name!r}; {offer}`lm-eval-ita list` shows all of ours, --include_path adds your own"


def _add(name: str, index: Mapping[str, Any], tasks: dict[str, None], groups: dict[str, Mapping[str, Any]]) -> None:
    entry = index[name]
    kind = entry.kind.name
    if kind == "TAG":
        for member in sorted(entry.tags):
            _add(member, index, tasks, groups)
    elif kind != "GROUP":
        tasks[name] = None
    elif name not in groups:
        members = _members(name, entry.cfg or {}, index)
        for member in members:
            _add(member, index, tasks, groups)
        config = {key: value for key, value in (entry.cfg or {}).items() if key != "tag"}
        groups[name] = {**config, "task": members}


def _members(name: str, config: Mapping[str, Any], index: Mapping[str, Any]) -> list[str]:
    listed = config.get("task")
    members: list[Any] = listed if isinstance(listed, list) else [listed]
    plain = all(isinstance(member, str) and member in index for member in members)
    if not plain or not config.keys() <= {"group", "group_alias", "task", "aggregate_metric_list", "metadata", "tag"}:
        raise UserError(
            f"group {name!r} changes its tasks or defines its own; run it with lm_eval, or list its tasks by name"
        )
    return [task for member in members for task in (_tagged(index[member]) or [member])]


def _tagged(entry: Any) -> list[str]:
    return sorted(entry.tags) if entry.kind.name == "TAG" else []


def _version(config: Mapping[str, Any], folders: Sequence[str]) -> str:
    metadata = config.get("metadata")
    declared = metadata.get("version", "?") if isinstance(metadata, Mapping) else "?"
    text = json.dumps(config, sort_keys=True, default=str)
    for folder in folders:  # the harness writes functions with their file's folder: the same task elsewhere is the same
        text = text.replace(folder, "")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{declared} {digest[:12]}"
