"""Names that can be asked for and belong to nobody else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.source import KeyPath, Source

__all__ = ["RULES", "check"]

NAME = Rule("name", "A name can be given to `--tasks`: no spaces, commas, slashes or wildcards.")
NAME_TAKEN = Rule("name-taken", "No other task, group or tag has the name: the harness would replace one by the other.")
RULES = (NAME, NAME_TAKEN)

_UNSPEAKABLE = re.compile(r"[\s,*?\[\]/\\]")


def check(source: Source, sources: Sequence[Source]) -> Iterator[Finding]:
    """Findings about the name of a task or group and its tags.

    Args:
        source: The task or group.
        sources: All that are checked together, this one among them.
    """
    where: KeyPath = ("group",) if source.kind == "group" else ("task",)
    if not source.name or _UNSPEAKABLE.search(source.name):
        mend = "use letters, digits, underscores and hyphens"
        yield source.finding(NAME, where, f"the name {source.name!r} cannot be given to --tasks", mend)
        return
    other = _holder(source, sources)
    if other is not None:
        yield source.finding(NAME_TAKEN, where, f"{source.name} is the name of {other} too", "choose another")
    tags = source.config.get("tag")
    for tag in tags if isinstance(tags, list) else [tags] if tags else []:
        kind = facts.installed_names().get(str(tag), ("tag", Path()))[0]
        if kind != "tag":
            what = f"the tag {tag} is the name of a {kind} of the harness"
            yield source.finding(NAME_TAKEN, ("tag",), what, "choose another tag")


def _holder(source: Source, sources: Iterable[Source]) -> str | None:
    """Who else has a source's name."""
    for other in sources:
        if other.name == source.name and other.path != source.path:
            return str(other.path)
    for names, whose in ((facts.installed_names(), "the harness"), (facts.own_names(), "lm-eval-ita")):
        kind, path = names.get(source.name, ("", source.path))
        if path.resolve() != source.path.resolve():
            return f"a {kind} of {whose} ({'/'.join(path.parts[-3:])})"
    return None
