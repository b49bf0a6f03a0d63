"""The samples that a run logged (`--log_samples`): finding the file of a task, and streaming it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError

__all__ = ["find_samples", "iter_samples"]

_DATE = re.compile(r"_(\d{4}-\d{2}-\d{2}T[0-9.:-]+)\.json$")


def find_samples(results: Path, task: str) -> Path | None:
    """The samples of a task, beside its results file, written by the same run.

    The harness puts the moment of writing into both names. Where the results file was renamed, a single file of samples
    of this task beside it is taken; among several there is no telling.
    """
    if len(task) > 200 or "/" in task or "\0" in task:
        return None  # no file has such a name
    if match := _DATE.search(results.name):
        path = results.with_name(f"samples_{task}_{match[1]}.jsonl")
        return path if path.is_file() else None
    pattern = re.compile(rf"samples_{re.escape(task)}(_\d{{4}}-\d\d-\d\dT[0-9.:-]+)?\.jsonl")
    found = [path for path in results.parent.glob("samples_*.jsonl") if pattern.fullmatch(path.name)]
    return found[0] if len(found) == 1 else None


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
