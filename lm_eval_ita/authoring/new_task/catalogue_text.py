"""The catalogue beside task files, with a new entry in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lm_eval_ita._yaml import FastLoader
from lm_eval_ita.authoring.new_task.plan import Plan
from lm_eval_ita.authoring.new_task.yaml_text import mapping, scalar
from lm_eval_ita.errors import UserError

__all__ = ["catalogue_text", "entry_text", "has_entry"]

_HEAD = "# The data sets of the tasks in this folder; the fields are those of lm_eval_ita/catalogue/schema.py.\n"


def has_entry(path: Path, key: str) -> bool:
    """Whether a catalogue has a data set of that key."""
    return path.is_file() and _block(path.read_text(encoding="utf-8"), key, path) is not None


def catalogue_text(path: Path, plan: Plan) -> str:
    """The catalogue with the task's data set, which takes the place of an entry of the same key; the rest as it is.

    Raises:
        UserError: The file that is there cannot be read.
    """
    entry = entry_text(plan, path.parent)
    if not path.is_file():
        return f"{_HEAD}\n{entry}"
    text = path.read_text(encoding="utf-8")
    block = _block(text, plan.name, path)
    if block is None:
        return text.rstrip("\n") + f"\n\n{entry}"
    lines = text.split("\n")
    rest = "\n".join(lines[block[1] :]).strip("\n")
    return "\n".join([*lines[: block[0]], entry.rstrip("\n")]) + (f"\n\n{rest}\n" if rest else "\n")


def _block(text: str, key: str, path: Path) -> tuple[int, int] | None:
    """The lines of an entry, from 0, the end excluded; None where there is none."""
    try:
        node = yaml.compose(text, Loader=FastLoader)
    except yaml.YAMLError as error:
        raise UserError("is not valid YAML; correct it first", file=path) from error
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        raise UserError("must hold data sets by key", file=path)
    starts = [(name.value, name.start_mark.line) for name, _ in node.value]
    for number, (name, start) in enumerate(starts):
        if name == key:
            end = starts[number + 1][1] if number + 1 < len(starts) else len(text.split("\n"))
            lines = text.split("\n")
            while end > start + 1 and lines[end - 1].lstrip().startswith("#"):
                end -= 1  # a comment over the next entry is the next entry's
            return start, end
    return None


def entry_text(plan: Plan, home: Path) -> str:
    """The entry of a task's data set."""
    table, about = plan.table, plan.about
    lines = [f"{plan.name}:", f"  title: {scalar(about.title)}"]
    if table.hub is not None:
        lines.append(f"  hub: {mapping(table.hub.model_dump(exclude_none=True))}")
    lines.append("  splits:")
    for name, rows in plan.used.items():
        split: dict[str, Any] = {"rows": len(rows)}
        if table.hub is not None:
            split["hub"] = (table.hub_splits or {}).get(name)
        else:
            split |= {"file": _address(table.files[name], home), "sha256": table.digests[name]}
        lines.append(f"    {scalar(name)}: {mapping(split)}")
    lines.append("  columns:")
    for name, column in plan.types.items():
        lines.append(f"    {scalar(name)}: {mapping(_column(column.model_dump(exclude_defaults=True)))}")
    lines += [
        f"  licence: {scalar(about.licence)}",
        f"  origin: {about.origin}",
        f"  citation: {scalar(about.paper)}",
    ]
    return "\n".join(lines) + "\n"


def _column(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _address(file: Path, home: Path) -> str:
    """A file from the catalogue's folder where both may be moved together, else its whole path."""
    relative = os.path.relpath(file, home)
    address = os.path.abspath(file) if relative.count("..") > 1 else relative  # noqa: PTH100  # links stay links
    return Path(address).as_posix()
