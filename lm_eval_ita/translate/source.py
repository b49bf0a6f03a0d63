"""The rows that are translated or checked: from a file, or from a split of a data set of the Hub."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.catalogue.hub import named_snapshot
from lm_eval_ita.catalogue.readers import SUFFIXES, RowError, read
from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.translate.paths import FieldPath, text_paths, texts_at

__all__ = ["Source", "check_fields", "read_source"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """Rows and where they lie.

    Attributes:
        name: The file, or `hf://datasets/OWNER/NAME@COMMIT/SPLIT`.
        rows: As the source has them.
        lines: Of each row its line in the file, or its number, counted from 1.
        digest: SHA-256 of the rows.
    """

    name: str
    rows: Sequence[Row]
    lines: Sequence[int]
    digest: str


def read_source(data: str, config: str | None = None, split: str | None = None) -> Source:
    """Read rows.

    Args:
        data: A JSONL, CSV, TSV or Parquet file, or a repository of the Hub ("OWNER/NAME").
        config: Which configuration of a repository that has several.
        split: Which split of a repository that has several.

    Raises:
        UserError: It is neither, a row is bad, or the Hub cannot be had.
    """
    path = Path(data).expanduser()
    if path.is_dir():
        files = ", ".join(sorted(file.name for file in path.iterdir() if file.suffix in SUFFIXES)[:6])
        raise UserError(f"is a folder; name one of its files{f' ({files})' if files else ''}", file=path)
    if path.exists():
        if config or split:
            raise UserError("--config and --split are for data sets of the Hub; a file has neither")
        name, pairs = str(path), _file_rows(path)
    elif data.count("/") == 1 and not data.startswith((".", "/", "~")) and path.suffix not in SUFFIXES:
        name, pairs = _hub_rows(data, config, split)
    else:
        raise UserError(f"{data} is neither a file nor OWNER/NAME on the Hub")
    if not pairs:
        raise UserError(f"{name} has no rows")
    lines, rows = zip(*pairs, strict=True)
    return Source(name, rows, lines, _digest(name, rows))


def _file_rows(path: Path) -> list[tuple[int, Row]]:
    found = []
    for line, row in read(path):
        if isinstance(row, RowError):
            raise UserError(str(row), file=path, line=line)
        found.append((line, row))
    return found


def _digest(name: str, rows: Sequence[Row]) -> str:
    digest = hashlib.sha256()
    for number, row in enumerate(rows, start=1):
        try:
            digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n")
        except (TypeError, UnicodeEncodeError) as error:
            column = next((key for key, value in row.items() if not _is_json(value)), "a column")
            mend = "turn it into text, or leave the column out"
            raise UserError(f"{name}, row {number}: {column} holds what JSON cannot ({error}); {mend}") from error
    return digest.hexdigest()


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _hub_rows(repository: str, config: str | None, split: str | None) -> tuple[str, list[tuple[int, Row]]]:
    import datasets

    folder = named_snapshot(repository, "name a file instead")
    try:
        configs = datasets.get_dataset_config_names(str(folder))
        chosen = _chosen(repository, "configuration", "--config", config, configs)
        splits = [str(name) for name in datasets.get_dataset_split_names(str(folder), config_name=chosen)]
        part = _chosen(repository, "split", "--split", split, splits)
        loaded = datasets.load_dataset(str(folder), name=chosen, split=part)
    except (ValueError, OSError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise UserError(
            f"{repository} cannot be read by `datasets`: {one_line(error)}; download a file of it"
        ) from error
    rows = [(number, dict(row)) for number, row in enumerate(loaded, start=1)]
    return f"hf://datasets/{repository}@{folder.name}/{part}", rows


def _chosen(repository: str, what: str, flag: str, given: str | None, there: Sequence[str]) -> str:
    if given is None and len(there) == 1:
        return there[0]
    if given is None:
        raise UserError(f"{repository} has several: give {flag}, a {what}, one of {', '.join(there)}")
    if given not in there:
        raise UserError(f"{repository} has no {what} {given!r}; there are {', '.join(there)}")
    return given


def check_fields(source: Source, fields: Sequence[FieldPath]) -> None:
    """Look for every path in every row, before anything is loaded.

    Raises:
        UserError: A row does not fit a path (the first one is named), or no row has a text under it.
    """
    for path in fields:
        found = 0
        for line, row in zip(source.lines, source.rows, strict=True):
            try:
                found += len(texts_at(row, path))
            except UserError as error:
                there = ", ".join(text_paths(row)[:12])
                raise UserError(f"{error}; paths with text: {there}", file=source.name, line=line) from error
        if not found:
            raise UserError(f"--fields {path.text}: no row has a text there", file=source.name)
