"""Parallel text: two files whose lines are translations of each other."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from lm_eval_ita.errors import UserError

__all__ = ["ParallelText", "read_parallel", "word_spans"]

# An elided article or preposition is a word: "l'", "dell'" (so in treebanks and in word alignments, too).
_WORD = re.compile(r"[^\W_]+['’](?=\w)|\w+|[^\w\s]")


@dataclass(frozen=True)
class ParallelText:
    """Pairs of sentences, and what was left out.

    Attributes:
        pairs: Source and target, neither of them empty.
        empty: Pairs left out because a side is empty.
    """

    pairs: tuple[tuple[str, str], ...]
    empty: int


def read_parallel(files: Sequence[tuple[Path, Path]]) -> ParallelText:
    """Read pairs of files, line by line.

    Args:
        files: The source language's file and the target language's.

    Raises:
        UserError: A file cannot be read or is not UTF-8; two files differ in their number of lines; no pair is left.
    """
    pairs, empty = [], 0
    for source, target in files:
        for number, (first, second) in enumerate(zip_longest(_lines(source), _lines(target)), start=1):
            if first is None or second is None:
                short, long = (source, target) if first is None else (target, source)
                raise UserError(
                    f"ends before line {number}, and {long} goes on: the two do not translate each other line by line; "
                    "align them first",
                    file=short,
                )
            if first.strip() and second.strip():
                pairs.append((first.strip(), second.strip()))
            else:
                empty += 1
    if not pairs:
        raise UserError("no pair of sentences in the parallel files: every line has an empty side")
    return ParallelText(tuple(pairs), empty)


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield line.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise UserError("is not UTF-8; convert it first", file=path, line=number) from error
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror or error}", file=path) from error


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are, as aligners take them: runs of letters and digits, elided ones with their
    apostrophe, and single punctuation marks.

    Returns:
        Start and end of each, in characters.
    """
    return [match.span() for match in _WORD.finditer(text)]
