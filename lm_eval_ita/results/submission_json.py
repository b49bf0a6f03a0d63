"""Reading JSON that a stranger wrote: every way in which it can be more or less than plain data is refused by name."""

import json
import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_BYTES", "MAX_DEPTH", "BadJsonError", "Problem", "read_json", "shown", "walk"]

# A submission of all suites with every document is under 1 MB.
MAX_BYTES = 4_000_000
MAX_DEPTH = 12
# All suites with every document hold a third of it.
_MAX_VALUES = 600_000
_MAX_KEYS = 1_000
_MAX_DIGITS = 40

# What a file begins with that is no JSON whatever its name says.
_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstandard archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"%PDF": "a PDF",
    b"PAR1": "a parquet file",
    b"\x89PNG": "a picture",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy file",
    b"GGUF": "a GGUF file",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"#!": "a program",
}


@dataclass(frozen=True)
class Problem:
    """Why a submission is refused.

    Attributes:
        field: The field, with dots ("run.tasks.itaeval_xcopa.score"); "file" for the file as a whole.
        message: What is wrong with it.
        mend: What to do.
    """

    field: str
    message: str
    mend: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}; {self.mend}"


class BadJsonError(Exception):
    """The bytes are not plain JSON; its problem says why."""

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.problem = Problem("file", message, mend)


_AGAIN = "upload the JSON file that `lm-eval-ita submit` wrote, unchanged"


def read_json(raw: bytes) -> dict[str, Any]:
    """Parse bytes as one JSON object of bounded size and depth.

    Raises:
        BadJsonError: They are too many, no UTF-8, no JSON (NaN and Infinity are none), nested too deeply, hold a key
            twice or a number without bounds, or their top level is no object.
    """
    if len(raw) > MAX_BYTES:
        raise BadJsonError(f"has {len(raw):,} bytes; at most {MAX_BYTES:,} are taken", _AGAIN)
    if kind := _kind(raw):
        raise BadJsonError(f"is {kind}, not JSON", _AGAIN)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJsonError(f"is not UTF-8 (byte {error.start})", _AGAIN) from error
    try:
        content = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except RecursionError as error:
        raise BadJsonError(f"is nested deeper than {MAX_DEPTH} levels", _AGAIN) from error
    except ValueError as error:
        raise BadJsonError("is not valid JSON: it is cut off or damaged", _AGAIN) from error
    if not isinstance(content, dict):
        raise BadJsonError(f"holds a {type(content).__name__} where an object belongs", _AGAIN)
    _check_shape(content)
    return content


def _kind(raw: bytes) -> str | None:
    if raw[:1] == b"\x80" and raw[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a pickle"
    return next((kind for magic, kind in _MAGIC.items() if raw.startswith(magic)), None)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise BadJsonError(f"holds the key '{shown(twice)}' twice in one object", _AGAIN)
    return found


def _constant(name: str) -> Any:
    raise BadJsonError(f"holds {name}, which is no JSON", "a figure that is missing is null, or left out")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadJsonError(f"holds a number that is too large ({text[:20]})", _AGAIN)
    return number


def _int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise BadJsonError(f"holds a whole number of {len(text)} digits", _AGAIN)
    return int(text)


def _check_shape(content: Any) -> None:
    """Refuse what is nested too deeply, or holds so many values that looking at all of them takes long."""
    level, count = [content], 0
    for _ in range(MAX_DEPTH):
        count += sum(map(len, level))
        if count > _MAX_VALUES or any(isinstance(parent, dict) and len(parent) > _MAX_KEYS for parent in level):
            raise BadJsonError(f"holds more than {_MAX_VALUES:,} values, or {_MAX_KEYS:,} keys in one object", _AGAIN)
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise BadJsonError(f"is nested deeper than {MAX_DEPTH} levels", _AGAIN)


def walk(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key and every value that is no container, each with its path; a key's path ends in the key itself."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*path, key), key
            yield from walk(value, (*path, key))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            if isinstance(value, dict | list | str):
                yield from walk(value, (*path, str(number)))
    else:
        yield path, content


def shown(text: str, most: int = 40) -> str:
    """A name out of a file, for a message: one line, bounded, without characters that turn the line round."""
    kept = "".join(character if _is_plain(character) else "\N{REPLACEMENT CHARACTER}" for character in text[:most])
    return kept + ("…" if len(text) > most else "")


def _is_plain(character: str) -> bool:
    return unicodedata.category(character)[0] not in "CZ" or character == " "
