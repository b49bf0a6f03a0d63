"""The data of a new task: rows by split, from a file, a folder of splits, or the Hub."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lm_eval_ita._yaml import FastLoader
from lm_eval_ita.catalogue.hub import named_snapshot
from lm_eval_ita.catalogue.readers import SUFFIXES, RowError, read
from lm_eval_ita.catalogue.schema import Hub
from lm_eval_ita.errors import UserError, one_line

__all__ = ["Table", "read_table"]

Row = dict[str, Any]
SPLIT_NAMES = ("train", "validation", "test", "dev", "val", "valid")


@dataclass(frozen=True)
class Table:
    """Rows by split, and where they lie.

    Attributes:
        splits: Split to rows, as the source has them.
        files: Split to its file; empty for data of the Hub.
        digests: Split to the SHA-256 of its file.
        hub: The repository, its revision pinned to the commit that was read; None for files.
        hub_splits: Split to what `Split.hub` names it.
        licence: What the repository says; None where it says nothing.
    """

    splits: Mapping[str, list[Row]]
    files: Mapping[str, Path]
    digests: Mapping[str, str]
    hub: Hub | None = None
    hub_splits: Mapping[str, str] | None = None
    licence: str | None = None


def read_table(data: str, config: str | None = None) -> Table:
    """Read the data of a task.

    Args:
        data: A file, a folder whose files are splits, or a repository of the Hub ("OWNER/NAME").
        config: Which configuration of a repository that has several.

    Raises:
        UserError: It is none of these, a row is bad, or the Hub cannot be had.
    """
    path = Path(data).expanduser()
    if path.exists():
        files = _split_files(path)
        return Table(
            splits={name: _rows(file) for name, file in files.items()},
            files=files,
            digests={name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items()},
        )
    if data.count("/") == 1 and not data.startswith((".", "/", "~")) and path.suffix not in SUFFIXES:
        return _from_hub(data, config)
    raise UserError(f"{data} is neither a file, nor a folder, nor OWNER/NAME on the Hub")


def _split_files(path: Path) -> dict[str, Path]:
    """Split to file. A file named after a split brings those beside it that are, too."""
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES]
        if not files:
            raise UserError(f"holds no file of rows ({', '.join(SUFFIXES)})", file=path)
    elif path.suffix not in SUFFIXES:
        raise UserError(f"files of rows are {', '.join(SUFFIXES)}; convert it", file=path)
    elif path.stem not in SPLIT_NAMES:
        return {"test": path}
    else:
        files = [file for file in sorted(path.parent.glob(f"*{path.suffix}")) if file.stem in SPLIT_NAMES]
    found: dict[str, Path] = {}
    for file in files:
        if file.stem in found:
            raise UserError(f"{found[file.stem].name} and {file.name} are both there: keep one", file=file.parent)
        found[file.stem] = file
    return found


def _rows(file: Path) -> list[Row]:
    rows: list[Row] = []
    for line, row in read(file):
        if isinstance(row, RowError):
            raise UserError(str(row), file=file, line=line)
        rows.append(row)
    if not rows:
        raise UserError("the file has no rows", file=file)
    return rows


def _from_hub(repository: str, config: str | None) -> Table:
    import datasets

    folder = named_snapshot(repository, "name a file or folder instead")
    try:
        configs = datasets.get_dataset_config_names(str(folder))
        if config is None and len(configs) > 1:
            raise UserError(f"{repository} has several configurations: give --config, one of {', '.join(configs)}")
        chosen = config or configs[0]
        if chosen not in configs:
            raise UserError(f"{repository} has no configuration {chosen!r}; there are {', '.join(configs)}")
        loaded = datasets.load_dataset(str(folder), name=chosen)
    except (ValueError, OSError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise UserError(
            f"{repository} cannot be read by `datasets`: {one_line(error)}; download its files and name them"
        ) from error
    splits = {str(name): [dict(row) for row in rows] for name, rows in loaded.items()}
    named = None if configs == ["default"] else chosen
    return Table(
        splits=splits,
        files={},
        digests={},
        hub=Hub(id=repository, read="native", config=named, revision=folder.name),
        hub_splits={name: name for name in splits},
        licence=_licence(folder),
    )


def _licence(folder: Path) -> str | None:
    """The licence in the front matter of a repository's README."""
    readme = folder / "README.md"
    if not readme.is_file():
        return None
    _, _, rest = readme.read_text(encoding="utf-8", errors="replace").partition("---\n")
    try:
        front = yaml.load(rest.partition("\n---")[0], Loader=FastLoader)
    except yaml.YAMLError:
        return None
    found = front.get("license") if isinstance(front, dict) else None
    return ", ".join(map(str, found)) if isinstance(found, list) else str(found) if found else None
