"""Task files with the line of every key: YAML, what it includes, and the functions it names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from lm_eval_ita.authoring.findings import Finding, Rule, finding
from lm_eval_ita.harness.task_files import TaskLoader

__all__ = ["RULES", "KeyPath", "Place", "Reference", "Source", "SourceReader"]

YAML = Rule("yaml", "The file is UTF-8 and YAML, and holds a mapping.")
DUPLICATE_KEY = Rule("duplicate-key", "No key is written twice: YAML would silently keep the last.")
INCLUDE = Rule(
    "include", "What is included exists, and is included once: the harness drops a task that includes a file twice."
)
KIND = Rule("kind", "A file is a task (`task: NAME`) or a group (`group: NAME` with a list of members).")
RULES = (YAML, DUPLICATE_KEY, INCLUDE, KIND)

# From the top of a file to a value: ("metric_list", 0, "metric").
KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """Where something is written: a file and a line, counted from 1."""

    file: Path
    line: int


@dataclass(frozen=True)
class Reference:
    """A function that a file names with `!function`.

    Attributes:
        text: "module.function", dotted.
        folder: The folder of the file that names it, where the harness looks for the module first.
    """

    text: str
    folder: Path


@dataclass(frozen=True)
class Source:
    """A task or group with what it includes.

    Attributes:
        path: Its file.
        kind: "task", "group", or "python" for a task that names a class.
        name: As given to `--tasks`.
        config: The merged content; functions as text.
        places: Key path to the place where it is written, which may be an included file.
        functions: Key path to the function that stands there.
    """

    path: Path
    kind: Literal["task", "group", "python"]
    name: str
    config: Mapping[str, Any]
    places: Mapping[KeyPath, Place] = field(repr=False)
    functions: Mapping[KeyPath, Reference] = field(repr=False)

    def place(self, where: KeyPath = ()) -> Place:
        """Where a key is written; for one that is not, where the nearest one above it is, or the name."""
        for length in range(len(where), 0, -1):
            if (found := self.places.get(where[:length])) is not None:
                return found
        name = self.places.get(("group",) if self.kind == "group" else ("task",))
        return name or Place(self.path, 1)

    def finding(self, rule: Rule, where: KeyPath, what: str, mend: str) -> Finding:
        """A finding about a key of this file."""
        place = self.place(where)
        return finding(rule, place.file, place.line, what, mend)

    def function(self, *where: str | int) -> bool:
        """Whether a function stands at a key."""
        return where in self.functions

    def value(self, where: KeyPath) -> Any:
        """What stands at a key path; None where nothing does."""
        found: Any = self.config
        for key in where:
            if isinstance(found, dict):
                found = found.get(key)
            elif isinstance(found, list) and isinstance(key, int) and key < len(found):
                found = found[key]
            else:
                return None
        return found

    def entries(self, key: str) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
        """The mappings in a list, such as those of `metric_list`, each with its key path."""
        listed = self.config.get(key)
        for number, entry in enumerate(listed if isinstance(listed, list) else [listed]):
            if isinstance(entry, dict):
                yield (key, number), entry

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The card, whatever it holds; empty where there is none."""
        card = self.config.get("metadata")
        return card if isinstance(card, dict) else {}


@dataclass(frozen=True)
class _Content:
    """One file by itself; `config` is None where it cannot be read."""

    config: dict[str, Any] | None
    places: dict[KeyPath, Place]
    functions: dict[KeyPath, Reference]
    findings: tuple[Finding, ...]


_Tables = tuple[dict[KeyPath, Place], dict[KeyPath, Reference]]


class SourceReader:
    """Reads task files; what many of them include is read once."""

    def __init__(self) -> None:
        self._read: dict[Path, _Content] = {}

    def read(self, path: Path) -> tuple[Source | None, list[Finding]]:
        """A task or group; None where the findings say why it is neither."""
        found: list[Finding] = []
        merged = self._merged(path, {}, found)
        if merged is None or merged.config is None:
            return None, found
        kind, wrong = _kind(merged.config)
        if kind is None:
            line = min((place.line for place in merged.places.values() if place.file == path), default=1)
            return None, [*found, finding(KIND, path, line, wrong, "give it `task: NAME`, or `group: NAME` and a list")]
        name = str(merged.config["group" if kind == "group" else "task"])
        return Source(path, kind, name, merged.config, merged.places, merged.functions), found

    def _merged(self, path: Path, seen: dict[Path, None], found: list[Finding]) -> _Content | None:
        """A file over what it includes, merged by whole top-level keys as the harness does."""
        seen[path.resolve()] = None
        own = self._content(path)
        found += own.findings
        if own.config is None:
            return None
        names = own.config.get("include", [])
        place = own.places.get(("include",), Place(path, 1))
        merged = _Content({}, {}, {}, ())
        for name in names if isinstance(names, list) else [names]:
            file = Path(os.path.normpath(path.parent / str(name)))
            if not isinstance(name, str) or not file.is_file():
                found.append(
                    finding(
                        INCLUDE, path, place.line, f"{name!r} is not there", f"correct the path, from {path.parent}"
                    )
                )
                return None
            if file.resolve() in seen:
                mend = "include it once: the harness takes the second time for a cycle and drops the task"
                found.append(finding(INCLUDE, path, place.line, f"{name} is included twice", mend))
                return None
            included = self._merged(file, seen, found)
            if included is None:
                return None
            _overlay(merged, included)
        _overlay(merged, own)
        return merged

    def _content(self, path: Path) -> _Content:
        if path not in self._read:
            self._read[path] = _read_one(path)
        return self._read[path]


def _overlay(below: _Content, above: _Content) -> None:
    """Put one file's top-level keys over another's."""
    assert below.config is not None
    assert above.config is not None
    for key, value in above.config.items():
        if key == "include":
            continue
        for table in (below.places, below.functions):
            for where in [where for where in table if where[0] == key]:
                del table[where]
        below.config[key] = value
        below.places.update({where: place for where, place in above.places.items() if where[0] == key})
        below.functions.update({where: ref for where, ref in above.functions.items() if where[0] == key})


def _kind(config: Mapping[str, Any]) -> tuple[Literal["task", "group", "python"] | None, str]:
    if "class" in config and isinstance(config.get("task"), str):
        return "python", ""
    if "group" in config:
        if isinstance(config.get("task"), str):
            return (
                None,
                "it is a group and a task at once, which the harness takes for an empty group (use `tag`)",
            )
        return ("group", "") if isinstance(config["group"], str) else (None, "the group's name is not text")
    if "task" in config:
        return ("task", "") if isinstance(config["task"], str) else (None, "the task's name is not text")
    return None, "it has neither a task nor a group, so the harness leaves it out"


def _read_one(path: Path) -> _Content:
    def unreadable(line: int, what: str, mend: str) -> _Content:
        return _Content(None, {}, {}, (finding(YAML, path, line, what, mend),))

    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        return unreadable(1, f"cannot be read ({error.strerror or error})", "check the path and its permissions")
    except UnicodeDecodeError as error:
        return unreadable(data[: error.start].count(b"\n") + 1, "is not UTF-8", "save it as UTF-8")
    places: dict[KeyPath, Place] = {}
    functions: dict[KeyPath, Reference] = {}
    loader = TaskLoader(text)
    try:
        node = loader.get_single_node()
        # Before the construction, which puts what `<<` merges among a mapping's own keys.
        twice = () if node is None else tuple(_walk(node, (), path, (places, functions), frozenset()))
        config = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        return unreadable(*_yaml_error(error, text))
    finally:
        loader.dispose()
    if not isinstance(config, dict):
        return unreadable(1, "does not hold a mapping", "write `key: value` lines")
    return _Content({str(key): value for key, value in config.items()}, places, functions, twice)


def _yaml_error(error: yaml.YAMLError, text: str) -> tuple[int, str, str]:
    mark = getattr(error, "problem_mark", None)
    position = getattr(error, "position", None)
    line = mark.line + 1 if mark is not None else text[: position or 0].count("\n") + 1
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    return line, f"is not valid YAML ({problem})", "correct this line or the one before it"


def _walk(node: yaml.Node, where: KeyPath, path: Path, tables: _Tables, above: frozenset[int]) -> Iterator[Finding]:
    """Note the place of every key and item, and every function; yields keys that are written twice."""
    if id(node) in above:  # an anchor inside itself
        return
    places, functions = tables
    if node.tag == "!function":
        functions[where] = Reference(str(node.value), path.parent)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.value in first and key.tag != "tag:yaml.org,2002:merge":
                what = f"the key {key.value!r} is written twice, first in line {first[key.value]}"
                yield finding(DUPLICATE_KEY, path, line, what, "keep one: only the last counts")
            first.setdefault(key.value, line)
            places[(*where, key.value)] = Place(path, line)
            yield from _walk(value, (*where, key.value), path, tables, above | {id(node)})
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            places[(*where, number)] = Place(path, item.start_mark.line + 1)
            yield from _walk(item, (*where, number), path, tables, above | {id(node)})
