"""The samples that a run logged (`--log_samples`): finding the file of a task, and streaming it."""

import functools
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError

__all__ = ["find_samples", "iter_samples", "samples_beside"]

_DATE = re.compile(r"_(\d{4}-\d{2}-\d{2}T[0-9.:-]+)\.json$")


def find_samples(results: Path, task: str) -> Path | None:
    """The samples of a task, beside its results file, written by the same run.

    The harness puts the moment of writing into both names. Where the results file was renamed, a single file of samples
    of this task beside it is taken; among several there is no telling.
    """
    return samples_beside(results)(task)


def samples_beside(results: Path) -> Callable[[str], Path | None]:
    """`find_samples` for all tasks of one results file: its folder is listed once."""
    try:
        names = _listed(str(results.parent), results.parent.stat().st_mtime_ns)
    except OSError:
        names = frozenset()
    date = _DATE.search(results.name)

    def find(task: str) -> Path | None:
        if date:
            name = f"samples_{task}_{date[1]}.jsonl"
            return results.with_name(name) if name in names else None
        pattern = re.compile(rf"samples_{re.escape(task)}(_\d{{4}}-\d\d-\d\dT[0-9.:-]+)?\.jsonl")
        found = [name for name in names if pattern.fullmatch(name)]
        return results.with_name(found[0]) if len(found) == 1 else None

    return find


@functools.lru_cache(maxsize=8)
def _listed(folder: str, changed: int) -> frozenset[str]:
    return frozenset(name for name in os.listdir(folder) if name.startswith("samples_"))  # noqa: PTH208  # names only


def iter_samples(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the samples of one task, in the file's order, a line in memory at a time.

    Raises:
        UserError: The file cannot be read, or a line is not a sample; it names the line.
    """
    try:
        # Split at line feeds only: an answer may hold U+2028 or a carriage return.
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                sample = _parsed(line, path, number)
                if not isinstance(sample, dict) or "doc" not in sample:
                    raise UserError("is not a sample of the harness: it has no 'doc'", file=path, line=number)
                yield sample
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", file=path) from error


def _parsed(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError("is not valid JSON: the line is cut off or damaged", file=path, line=number) from error
