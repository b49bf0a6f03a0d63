"""Task files checked from top to bottom: what is written, what it names, and what becomes of the rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.authoring.calling import Outcome, attempt
from lm_eval_ita.authoring.findings import Finding
from lm_eval_ita.authoring.rules import (
    ACCEPTABLE,
    build,
    card,
    choices,
    data,
    fewshot,
    functions,
    generation,
    groups,
    keys,
    metrics,
    names,
    prompts,
)
from lm_eval_ita.authoring.source import Source, SourceReader
from lm_eval_ita.authoring.targets import task_files
from lm_eval_ita.catalogue import catalogue
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.own import entries
from lm_eval_ita.harness.task_files import tasks_path

__all__ = ["Checked", "validate"]


@dataclass(frozen=True)
class Checked:
    """What was checked, and what was found.

    Attributes:
        files: How many task files.
        findings: In the order of files and lines; errors and warnings.
    """

    files: int
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """How many findings make a task wrong."""
        return sum(found.level == "error" for found in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are only worth a look."""
        return len(self.findings) - self.errors

    def record(self) -> dict[str, Any]:
        """The whole as JSON holds it."""
        findings = [found.record() for found in self.findings]
        return {"files": self.files, "errors": self.errors, "warnings": self.warnings, "findings": findings}


@dataclass(frozen=True)
class _Together:
    """What the files that are checked together share.

    Attributes:
        sources: All tasks and groups among them.
        directory: Tasks and groups by name, the harness's too.
        loads: The data sets that were loaded.
        data_dir: As `validate` takes it.
    """

    sources: Sequence[Source]
    directory: groups.Directory
    loads: data.Loads
    data_dir: str | None


def validate(targets: Sequence[str | Path] = (), *, data_dir: str | None = None) -> Checked:
    """Check tasks and groups.

    Args:
        targets: Names of ours, task files, or folders of them; all of ours by default.
        data_dir: A data folder `<key>/<split>.jsonl` whose rows are tried; by default the sample rows of our tasks,
            and the data of others as they are found.

    Raises:
        UserError: A target is neither a name of ours nor a path, or there is no such data folder.
    """
    if data_dir is not None and data_dir != "sample" and not Path(data_dir).expanduser().is_dir():
        raise UserError(f"{data_dir} is no folder; name one that holds <key>/<split>.jsonl")
    reader = SourceReader()
    found: list[Finding] = []
    sources: list[Source] = []
    files = task_files(targets)
    for path in files:
        source, wrong = reader.read(path)
        found += wrong
        if source is not None:
            sources.append(source)
    together = _Together(sources, groups.Directory(sources, reader), data.Loads(), data_dir)
    for source in sources:
        accepted = source.metadata.get("accepts")
        allowed = ACCEPTABLE & accepted.keys() if isinstance(accepted, dict) else frozenset()
        found += [finding for finding in _check(source, together) if finding.rule not in allowed]
    # What stands in an included file is found once for each task that includes it.
    return Checked(len(files), tuple(sorted(set(found))))


def _check(source: Source, together: _Together) -> Iterator[Finding]:
    """Findings about one task or group: a mistake is told once, where it is made, and not what follows from it."""
    yield from names.check(source, together.sources)
    if source.kind == "python":
        return  # its class decides everything else
    keyed = list(keys.check(source))
    yield from keyed
    if source.kind == "group":
        yield from groups.check(source, together.directory)
    elif not any(finding.rule == keys.WRONG_TYPE.name for finding in keyed):
        yield from _checked_task(source, together, sound=not _wrong(keyed))


def _wrong(findings: Iterable[Finding]) -> bool:
    return any(finding.level == "error" for finding in findings)


def _checked_task(source: Source, together: _Together, *, sound: bool) -> Iterator[Finding]:
    written = list(_written(source))
    yield from written
    if any(finding.rule in _FATAL for finding in written):
        return
    called, found = functions.resolve(source)
    found += functions.check(source, called)
    yield from found
    if found:
        return
    dataset, rows, wrong = data.tables(source, called, _data_dir(source, together.data_dir), together.loads)
    yield from wrong
    tried = list(_tried(source, called, rows))
    yield from tried
    if dataset is not None and sound and not _wrong([*written, *wrong, *tried]):
        yield from build.check(source, dataset, together.loads)


# Without these there are no rows, or no way to read them.
_FATAL = frozenset({data.DATA.name, card.CARD_DATA.name, prompts.TEMPLATE.name})


def _written(source: Source) -> Iterator[Finding]:
    """Findings about the file alone."""
    own = source.function("custom_dataset") and source.functions["custom_dataset",].text == card.OWN_LOADER
    known = attempt(entries, source.path.parent) if own else Outcome(catalogue())
    if known.error is not None:
        yield data.from_error(source, (), known)
        return
    yield from card.check(source, known.value, ACCEPTABLE)
    yield from data.check(source, known.value)
    yield from fewshot.check(source)
    yield from prompts.check(source)
    yield from choices.check(source)
    yield from generation.check(source)
    yield from metrics.check(source)


def _tried(source: Source, called: functions.Functions, rows: Sequence[data.Table]) -> Iterator[Finding]:
    """Findings from running a task on its rows; what goes wrong in several splits is told of the first."""
    told: set[tuple[str, Path, int]] = set()
    for found in (
        *fewshot.check_rows(source, rows),
        *prompts.check_rows(source, called, rows),
        *choices.check_rows(source, called, rows),
        *metrics.check_rows(source, called, rows),
    ):
        if (found.rule, found.file, found.line) not in told:
            told.add((found.rule, found.file, found.line))
            yield found


def _data_dir(source: Source, data_dir: str | None) -> str | None:
    """The folder for our loaders: the sample rows for our own tasks, so that any machine can check them."""
    if data_dir is None and tasks_path() in source.path.resolve().parents:
        return "sample"
    return None if data_dir is None else os.path.expanduser(data_dir)  # noqa: PTH111
