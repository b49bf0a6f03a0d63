"""Files to raw rows: JSONL, CSV, TSV, parquet and nested SQuAD JSON, each row with its line in the file.

Lines end at LF only. Python's `splitlines` and most text tools also break at U+2028, U+0085 and five more characters,
which do occur inside tweets and would cut a record in two.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError

__all__ = ["SUFFIXES", "Raw", "RowError", "read"]

# The formats of a data folder, by suffix.
SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}

_BOM = b"\xef\xbb\xbf"
_CSV_FIELD_LIMIT = 16 * 1024 * 1024  # csv's own limit, 128 KiB, is shorter than some news articles
_csv_limit_lock = threading.Lock()


class RowError(Exception):
    """What is wrong with one row, and in which field."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


# A line number, counted from 1 (a row number where the format has no lines), and the row or what is wrong with it.
Raw = tuple[int, "dict[str, Any] | RowError"]


def read(path: Path, format: str | None = None) -> Iterator[Raw]:
    """Read a file row by row.

    Args:
        path: The file.
        format: `jsonl`, `csv`, `tsv`, `parquet` or `squad`; by default the one that the suffix names.

    Raises:
        UserError: The file as a whole cannot be read. A single bad row is yielded as a `RowError` instead, so that
            a check can go on and list them all.
    """
    name = format or SUFFIXES.get(path.suffix.lower(), path.suffix)
    reader = _READERS.get(name)
    if reader is None:
        raise UserError(f"format {name!r} is not read here; use {', '.join(SUFFIXES)}", file=path)
    try:
        yield from reader(path)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror or error}", file=path) from error


def _lines(data: bytes) -> Iterator[tuple[int, str | RowError]]:
    """Decode UTF-8 line by line, splitting on LF only, so that a bad byte is named by its line."""
    for number, line in enumerate(data.removeprefix(_BOM).split(b"\n"), start=1):
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield number, RowError(f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _jsonl(path: Path) -> Iterator[Raw]:
    data = path.read_bytes()
    last = data.count(b"\n") + 1
    for number, line in _lines(data):
        if isinstance(line, RowError):
            yield number, line
        elif line.strip(" \t\r"):
            yield number, _json_row(line, truncated=number == last)


def _json_row(line: str, *, truncated: bool) -> dict[str, Any] | RowError:
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except ValueError as error:
        hint = "; the file ends here without a newline: it is cut short, fetch it again" if truncated else ""
        return RowError(f"not valid JSON ({error}){hint}")
    if not isinstance(value, dict):
        return RowError(f"expected a JSON object, found {type(value).__name__}")
    return value


def _decoded(path: Path) -> str:
    """The whole file as text; the first byte that is not UTF-8 is an error with its line."""
    data = path.read_bytes()
    for number, line in _lines(data):
        if isinstance(line, RowError):
            raise UserError(str(line), file=path, line=number)
    return data.removeprefix(_BOM).decode("utf-8")


@contextlib.contextmanager
def _long_fields() -> Iterator[None]:
    """Raise csv's process-wide field limit for a while."""
    with _csv_limit_lock:
        before = csv.field_size_limit(_CSV_FIELD_LIMIT)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _csv(path: Path) -> Iterator[Raw]:
    text = _decoded(path)
    header = text.split("\n", 1)[0]
    # EVALITA hands its files out with semicolons.
    delimiter = ";" if ";" in header and "," not in header else ","
    # newline="" as csv asks: it then sees CRLF and line breaks inside quotes as they are.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    with _long_fields():
        try:
            records = [(0, next(reader, []))]
            start = reader.line_num + 1
            for record in reader:
                records.append((start, record))
                start = reader.line_num + 1
        except csv.Error as error:
            raise UserError(f"not valid CSV ({error})", file=path, line=reader.line_num) from error
    yield from _table(path, records)


def _tsv(path: Path) -> Iterator[Raw]:
    """Tab-separated text, where a quotation mark is a character like any other unless it wraps a whole field."""
    lines = [(number, line.removesuffix("\r")) for number, line in enumerate(_decoded(path).split("\n"), start=1)]
    yield from _table(path, [(number, [_unquoted(field) for field in line.split("\t")]) for number, line in lines])


def _unquoted(field: str) -> str:
    """Undo the quoting that pandas adds to a field holding a quotation mark (`"Disse ""no""."`)."""
    inner = field[1:-1]
    if len(field) < 2 or field[0] != '"' or field[-1] != '"' or '"' in inner.replace('""', "") or '""' not in inner:
        return field
    return inner.replace('""', '"')


def _table(path: Path, records: Iterable[tuple[int, list[str]]]) -> Iterator[Raw]:
    rows = iter(records)
    _, header = next(rows, (0, []))
    if not any(name.strip() for name in header):
        raise UserError("is empty: a header line is expected", file=path, line=1)
    if len(set(header)) < len(header):
        raise UserError(f"names a column twice: {', '.join(header)}", file=path, line=1)
    for number, fields in rows:
        if fields in ([], [""]):  # a blank line
            continue
        if len(fields) != len(header):
            yield number, RowError(f"{len(fields)} fields where the header has {len(header)}")
        else:
            yield number, dict(zip(header, fields, strict=True))


def _parquet(path: Path) -> Iterator[Raw]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pyarrow.ArrowException as error:
        raise UserError(f"not valid parquet ({str(error).splitlines()[0]})", file=path) from error


def _squad(path: Path) -> Iterator[Raw]:
    """Nested SQuAD JSON (articles, paragraphs, questions), plain or gzipped, one row per question."""
    data = path.read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        articles = json.loads(data.removeprefix(_BOM).decode("utf-8"))["data"]
        number = 0
        for article in articles:
            for paragraph in article["paragraphs"]:
                for question in paragraph["qas"]:
                    number += 1
                    yield number, {"context": paragraph["context"], **question}
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise UserError(f"not valid SQuAD JSON ({error})", file=path) from error
    except (KeyError, TypeError) as error:
        raise UserError(
            f"not SQuAD JSON: data, paragraphs, context and qas are expected ({error!r})", file=path
        ) from error


_READERS: dict[str, Callable[[Path], Iterator[Raw]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "squad": _squad,
}
