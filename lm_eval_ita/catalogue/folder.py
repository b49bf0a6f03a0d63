"""Data folders: `<folder>/<key>/<split>.{jsonl,csv,tsv,parquet}`, the samples among them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from lm_eval_ita.catalogue.fetch import writing
from lm_eval_ita.catalogue.readers import SUFFIXES
from lm_eval_ita.catalogue.rows import Row, problems
from lm_eval_ita.catalogue.schema import Entry, catalogue
from lm_eval_ita.errors import UserError

__all__ = ["ENVIRONMENT", "SAMPLE", "copy_file", "find", "roots", "samples", "verify", "write_rows"]

ENVIRONMENT = "LM_EVAL_ITA_DATA"
SAMPLE = "sample"


def samples() -> Path:
    """The folder of the sample rows that come with the package."""
    return Path(__file__).with_name("samples")


def roots(data_dir: str | os.PathLike[str] | None, samples_at: Path | None = None) -> list[Path]:
    """The data folders to look in, in order: the explicit one, then the environment's.

    `sample` stands for the samples, by default the packaged ones, and ends the list: a sample run never goes on to real
    rows.

    Raises:
        UserError: A folder that was asked for does not exist.
    """
    found: list[Path] = []
    for source, chosen in (("data_dir", data_dir), (ENVIRONMENT, os.environ.get(ENVIRONMENT))):
        if not chosen:
            continue
        if str(chosen) == SAMPLE:
            return [*found, samples_at or samples()]
        root = Path(chosen).expanduser()
        if not root.is_dir():
            raise UserError(f"{source} names a folder that does not exist; create it or correct {source}", file=root)
        found.append(root)
    return found


def find(root: Path, key: str, split: str) -> Path | None:
    """The file of a split in a data folder, or None.

    Raises:
        UserError: There are two, and nothing says which one is meant.
    """
    present = [path for suffix in SUFFIXES if (path := root / key / f"{split}{suffix}").is_file()]
    if len(present) > 1:
        names = " and ".join(path.name for path in present)
        raise UserError(f"{names} are both there: keep one", file=root / key)
    return present[0] if present else None


def write_rows(root: Path, key: str, split: str, rows: list[Row]) -> Path:
    """Write a split as JSONL, all at once or not at all.

    Raises:
        UserError: It cannot be written, or the split is there already in another format.
    """
    target = root / key / f"{split}.jsonl"
    with _placing(target) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return target


def copy_file(root: Path, key: str, source: Path) -> Path:
    """Copy a file into a data folder as it is, under its name; raises as `write_rows`."""
    target = root / key / source.name
    with _placing(target) as path:
        path.write_bytes(source.read_bytes())
    return target


@contextlib.contextmanager
def _placing(target: Path) -> Iterator[Path]:
    other = find(target.parent.parent, target.parent.name, target.stem)
    if other is not None and other != target:
        raise UserError(
            f"{other.name} is there already and would make {target.name} ambiguous: move it", file=other.parent
        )
    with writing(target, "choose another folder with --to") as path:
        yield path


def verify(root: Path) -> Iterator[tuple[str, str]]:
    """Check a data folder row by row.

    Yields:
        (`problem`, text): Something to mend, by file and line.
        (`note`, text): Something to know, such as a row count other than the full set's.
    """
    if not root.is_dir():
        raise UserError("there is no such folder", file=root)
    folders = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    known = catalogue()
    if not any(folder.name in known for folder in folders):
        raise UserError("holds no data set of the catalogue: <key>/<split>.jsonl is expected", file=root)
    for folder in folders:
        if folder.name in known:
            yield from _verify_one(root, known[folder.name])
        else:
            yield "note", f"{folder}: not a data set of the catalogue, left alone"


def _verify_one(root: Path, entry: Entry) -> Iterator[tuple[str, str]]:
    folder = root / entry.key
    for path in sorted(folder.iterdir()):
        if path.suffix in SUFFIXES and path.stem not in entry.splits:
            yield "problem", f"{path}: {entry.key} has no split {path.stem!r} (there are: {', '.join(entry.splits)})"
    for name, split in entry.splits.items():
        try:
            path_or_none = find(root, entry.key, name)
        except UserError as error:
            yield "problem", str(error)
            continue
        if path_or_none is None:
            if split.required:
                yield "problem", f"{folder}: the split {name} is missing"
            continue
        good, found = problems(entry, name, path_or_none)
        for text in found:
            yield "problem", text
        if not found and split.rows is not None and good != split.rows:
            yield "note", f"{path_or_none}: {good} rows; the full set has {split.rows}"
