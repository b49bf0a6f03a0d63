"""Groups: members that exist and report what the group averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.authoring.source import KeyPath, Source, SourceReader

__all__ = ["RULES", "Directory", "check"]

GROUP_MEMBER = Rule("group-member", "Every member of a group exists, and no group holds itself.")
GROUP_METRIC = Rule(
    "group-metric", "Every task in a group reports, under the filter `none`, each metric that the group averages."
)
RULES = (GROUP_MEMBER, GROUP_METRIC)


class Directory:
    """Tasks and groups by name: those that are checked, ours, and the installed harness's.

    Args:
        sources: Those that are checked.
        reader: Reads the others when they are asked for.
    """

    def __init__(self, sources: Sequence[Source], reader: SourceReader) -> None:
        self._sources = {source.name: source for source in sources}
        self._tags = {str(tag) for source in sources for tag in _listed(source.config.get("tag"))}
        self._reader = reader

    def names(self) -> list[str]:
        """Every name there is."""
        return [*self._sources, *self._tags, *facts.own_names(), *facts.installed_names()]

    def known(self, name: str) -> bool:
        """Whether there is a task, group or tag of that name."""
        return (
            name in self._sources or name in self._tags or name in facts.own_names() or name in facts.installed_names()
        )

    def get(self, name: str) -> Source | None:
        """The task or group of a name; None for a tag, or for a file that cannot be read."""
        if name not in self._sources:
            kind, path = facts.own_names().get(name) or facts.installed_names().get(name, ("tag", Path()))
            if kind == "tag":
                return None
            source, _ = self._reader.read(path)
            if source is None:
                return None
            self._sources[name] = source
        return self._sources[name]


def check(group: Source, directory: Directory) -> Iterator[Finding]:
    """Findings about a group."""
    listed = group.config.get("task")
    if not isinstance(listed, list) or not listed:
        yield group.finding(
            GROUP_MEMBER, ("task",), f"the group {group.name} has no list of members", "write `task:` and a list"
        )
        return
    averaged = [(where, entry) for where, entry in group.entries("aggregate_metric_list") if entry.get("metric")]
    for number, member in enumerate(listed):
        where: KeyPath = ("task", number)
        name = _member_name(member)
        if name is None:
            continue  # defined in the group itself
        if not directory.known(name):
            mend = did_you_mean(name, directory.names(), "correct the name")
            yield group.finding(GROUP_MEMBER, where, f"there is no task {name!r}", mend)
            continue
        tasks, circle = _leaves(name, directory, (group.name,))
        if circle:
            yield group.finding(
                GROUP_MEMBER, where, f"the group {group.name} holds itself, through {name}", "take it out"
            )
        for place, entry in averaged:
            yield from _metric(group, place, entry, tasks)


def _metric(group: Source, where: KeyPath, entry: Mapping[str, Any], tasks: Sequence[Source]) -> Iterator[Finding]:
    metric = entry["metric"]
    for task in tasks:
        reported = {str(found.get("metric")) for _, found in task.entries("metric_list")}
        if task.config.get("metric_list") is None:
            continue  # the harness's defaults, which the rules for metrics do not complain about
        if metric not in reported:
            mend = f"let it report {metric}, or take the task out of the group"
            yield group.finding(
                GROUP_METRIC, where, f"the group averages {metric}, which {task.name} does not report", mend
            )
            continue
        wanted = entry.get("filter_list") or ["none"]
        filters = {str(found.get("name")) for _, found in task.entries("filter_list")} or {"none"}
        missing = sorted(set([wanted] if isinstance(wanted, str) else wanted) - filters)
        if missing:
            has = ", ".join(sorted(filters))
            what = f"the group averages {metric} under the filter {missing[0]!r}, and {task.name} has {has}"
            yield group.finding(
                GROUP_METRIC, where, what, "name that filter in filter_list, or take the task's filter out"
            )


def _leaves(name: str, directory: Directory, above: tuple[str, ...]) -> tuple[list[Source], bool]:
    """The tasks under a name, and whether a group among them holds one above it."""
    if name in above:
        return [], True
    source = directory.get(name)
    if source is None or source.kind == "python":
        return [], False
    if source.kind == "task":
        return [source], False
    tasks: list[Source] = []
    circle = False
    for member in _listed(source.config.get("task")):
        inner = _member_name(member)
        if inner is not None:
            below, closed = _leaves(inner, directory, (*above, name))
            tasks += below
            circle = circle or closed
    return tasks, circle


def _member_name(member: Any) -> str | None:
    """The name of a member that is defined elsewhere; None for one that is defined in the group itself."""
    if isinstance(member, dict):
        plain = not member.keys() & {"dataset_path", "custom_dataset", "include"}
        found = member.get("task") if plain else None
        return found if isinstance(found, str) else None
    return str(member)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
