"""Documents of a corpus that hold test rows of ItaEval, and documents that are there twice."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lm_eval_ita.catalogue import load
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import read_task_files

__all__ = ["NGRAM", "TestRows", "clean", "itaeval_rows"]

# Words of a run that a document must share with a test row (Brown et al. 2020, *Language Models are Few-Shot
# Learners*).
NGRAM = 13
# A shorter text of a test row is looked for as a whole; one under this many words would be found everywhere.
_SHORTEST = 8
_WORD = re.compile(r"\w+")
_BASE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]


class TestRows:
    """The runs of words that test rows consist of, for looking them up in documents.

    Args:
        texts: For each data set, the texts of its test rows.
    """

    __test__ = False  # not a test of pytest

    def __init__(self, texts: Mapping[str, Iterable[str]]) -> None:
        self.keys = tuple(texts)
        self.too_short = 0
        self._words: dict[str, int] = {}
        found: dict[int, dict[int, int]] = {}
        for number, own in enumerate(texts.values()):
            for text in own:
                words = _words(text)
                if len(words) < _SHORTEST:
                    self.too_short += 1
                    continue
                length = min(len(words), NGRAM)
                for run in self._runs(words, length).tolist():
                    found.setdefault(length, {}).setdefault(run, number)
        self._known = {length: np.array(sorted(runs), dtype=np.uint64) for length, runs in found.items()}
        self._owner = found

    def holder(self, text: str) -> str | None:
        """The data set that shares 13 words in a row with a text, or a whole shorter text of 8 or more; else None."""
        words = _words(text)
        for length, known in self._known.items():
            if len(words) >= length:
                runs = self._runs(words, length)
                places = np.searchsorted(known, runs)
                hits = runs[known[np.minimum(places, len(known) - 1)] == runs]
                if len(hits):
                    return self.keys[self._owner[length][int(hits[0])]]
        return None

    def _runs(self, words: Sequence[str], length: int) -> Hashes:
        """A hash of every run of `length` words, in 64 bits (polynomial, wrapping)."""
        hashes = np.array([self._hash(word) for word in words], dtype=np.uint64)
        runs = np.zeros(len(words) - length + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            for place in range(length):
                runs = runs * _BASE + hashes[place : place + len(runs)]
        return runs

    def _hash(self, word: str) -> int:
        if word not in self._words:
            if len(self._words) > 1_000_000:
                self._words.clear()
            self._words[word] = _digest(word)
        return self._words[word]


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def itaeval_rows(data_dir: str | None = None) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The texts of all test rows of ItaEval's tasks.

    Returns:
        The texts by data set, and for each data set that cannot be had, why.
    """
    splits: dict[str, set[str]] = {}
    for file in read_task_files():
        if file.card is not None and file.card.suite == "itaeval":
            named = file.card.dataset
            for key in (named,) if isinstance(named, str) else named:
                chosen = (file.card.model_extra or {}).get("splits", {})
                splits.setdefault(key, set()).add(chosen.get("eval", "test"))
    texts, missing = {}, {}
    for key, wanted in splits.items():
        try:
            loaded = load(key, sorted(wanted), data_dir)
        except UserError as error:
            missing[key] = str(error)
            continue
        texts[key] = [text for rows in loaded.splits.values() for row in rows for text in _texts(row)]
    return texts, missing


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def clean(documents: Iterable[str], rows: TestRows | None, counts: Counter[str]) -> Iterator[str]:
    """The documents that are new, and hold no test row.

    Args:
        documents: The corpus.
        rows: What must not be in it; None looks for nothing.
        counts: Gets `documents`, `kept`, `twice` (equal but for case, spaces and Unicode's forms), and for each data
            set found `holds:KEY`.
    """
    seen: set[int] = set()
    for text in documents:
        counts["documents"] += 1
        mark = _digest(" ".join(unicodedata.normalize("NFKC", text).casefold().split()))
        if mark in seen:
            counts["twice"] += 1
            continue
        seen.add(mark)
        holder = rows.holder(text) if rows is not None else None
        if holder is not None:
            counts[f"holds:{holder}"] += 1
            continue
        counts["kept"] += 1
        yield text
