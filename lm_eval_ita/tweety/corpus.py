"""Corpora as streams of documents: text, JSON Lines, Parquet, data sets of the Hub."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from lm_eval_ita.errors import UserError

__all__ = ["documents"]

_HUB = "hub:"
_PARQUET_ROWS = 1024


def documents(sources: Sequence[str], field: str = "text") -> Iterator[str]:
    """The documents of all sources in turn, never more than a batch of them in memory; empty ones are left out.

    Args:
        sources: Files, folders (their files in the order of their names), or `hub:ORG/NAME[:CONFIG][@SPLIT]`. A file's
            name says what it is: `.jsonl`, `.jsonl.gz` (a record a line), `.parquet`, anything else is text in UTF-8
            with a document a line (`.gz` is unpacked).
        field: The text's field in JSON Lines, Parquet and on the Hub.

    Raises:
        UserError: A source does not exist or is not what its name says; the line is named.
    """
    if isinstance(sources, str):
        raise TypeError("sources must be a list of names, not one name")
    for source in sources:
        found = _from_hub(source, field) if source.startswith(_HUB) else _from_path(Path(source), field)
        yield from (text for text in found if text.strip())


def _from_path(path: Path, field: str) -> Iterator[str]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        if not files:
            raise UserError("the folder holds no files", file=path)
    elif path.is_file():
        files = [path]
    else:
        raise UserError("there is no such file or folder", file=path)
    for file in files:
        if file.suffix == ".parquet":
            yield from _parquet(file, field)
        else:
            with _opened(file) as lines:
                yield from _records(file, lines, field) if ".jsonl" in file.suffixes else _plain(file, lines)


def _opened(file: Path) -> IO[bytes]:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")  # type: ignore[return-value]


def _plain(file: Path, lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise UserError("is not UTF-8; convert it first", file=file, line=number) from error


def _records(file: Path, lines: Iterable[bytes], field: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise UserError(f"is not JSON: {error}", file=file, line=number) from error
        text = record.get(field) if isinstance(record, dict) else None
        if not isinstance(text, str):
            raise UserError(f"has no text in the field {field!r}; name its field with --field", file=file, line=number)
        yield text


def _parquet(file: Path, field: str) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"is not Parquet: {error}", file=file) from error
    if field not in content.schema_arrow.names:
        names = ", ".join(content.schema_arrow.names)
        raise UserError(f"has no column {field!r}, only {names}; name the text's column with --field", file=file)
    for batch in content.iter_batches(_PARQUET_ROWS, columns=[field]):
        for text in batch.column(0).to_pylist():
            if text is not None and not isinstance(text, str):
                raise UserError(f"the column {field!r} does not hold text", file=file)
            yield text or ""


def _from_hub(source: str, field: str) -> Iterator[str]:
    from datasets import load_dataset

    name, _, split = source.removeprefix(_HUB).partition("@")
    repository, _, config = name.partition(":")
    try:
        rows = load_dataset(repository, config or None, split=split or "train", streaming=True)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot be read from the Hub: {error}", file=source) from error
    for row in rows:
        if not isinstance(row.get(field), str):
            raise UserError(
                f"has no text in the field {field!r}, only {', '.join(row)}; name it with --field", file=source
            )
        yield row[field]
