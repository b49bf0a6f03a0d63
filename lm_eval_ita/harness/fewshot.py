"""The examples in a few-shot prompt: drawn for each document by its own content.

lm_eval draws from one generator per process, so its examples change with the number of processes and with the documents
before. Ours are a function of the document and of the run's few-shot seed alone.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from random import Random
from typing import Any

from lm_eval.api.samplers import ContextSampler

from lm_eval_ita.harness.prompts import ASKED

__all__ = ["FirstRowSampler", "SeededSampler"]

_log = logging.getLogger(__name__)


class SeededSampler(ContextSampler):  # type: ignore[misc]  # lm_eval is untyped
    """Draws examples that are neither the document itself nor about the same passage.

    Documents carry two columns that `lm_eval_ita.harness.itaeval.load` adds: `shot_key`, equal for rows that must not
    be each other's example (the same text, the same passage), and `shot_pool`, equal for rows that may be (the same
    newspaper). Those of a task with several prompts have the wording of the document.
    """

    def __init__(self, df: Sequence[dict[str, Any]] | None = None, *, rnd: int | None = None, **options: Any) -> None:
        super().__init__(df, rnd=rnd, **options)
        self._seed = rnd
        self._pools: dict[tuple[Any, Any], list[int]] = {}
        for position, row in enumerate(self.df):
            self._pools.setdefault(_pool(row), []).append(position)

    def set_rnd(self, rnd: int | None) -> "SeededSampler":
        """Take the run's few-shot seed."""
        self._seed = rnd
        return self

    def sample(
        self, n: int, eval_doc: dict[str, Any] | None = None, df: Sequence[dict[str, Any]] | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """Draw n examples for a document, without replacement.

        A pool with fewer than n other rows gives all it has, with a warning: full data sets never come to that.
        """
        if n == 0:
            return []
        assert eval_doc is not None, "examples and documents must come from one split (see itaeval.load)"
        pool = self._pools.get(_pool(eval_doc), [])
        rng = Random(_digest(eval_doc, self._seed))
        drawn: list[int] = []
        # Positions in random order, until there are enough: the pool can hold tens of thousands of rows.
        for position in _shuffled(pool, rng):
            if self.df[position]["shot_key"] != eval_doc["shot_key"]:
                drawn.append(position)
                if len(drawn) == n:
                    break
        if len(drawn) < n:
            _log.warning("only %d of %d examples for a document: the pool has no other rows", len(drawn), n)
        return [self.df[position] for position in drawn]


def _pool(row: dict[str, Any]) -> tuple[Any, Any]:
    return row["shot_pool"], row.get("wording")


def _digest(doc: dict[str, Any], seed: int | None) -> int:
    # In every wording of a task with several prompts a document has the same examples.
    doc = {name: value for name, value in doc.items() if name not in ASKED}
    text = json.dumps(doc, sort_keys=True, ensure_ascii=False, default=str)
    return int.from_bytes(hashlib.sha256(f"{seed}\n{text}".encode()).digest()[:8], "big")


def _shuffled(pool: list[int], rng: Random) -> Any:
    """The pool in random order, lazily (Fisher-Yates on a sparse copy)."""
    moved: dict[int, int] = {}
    for last in range(len(pool) - 1, -1, -1):
        chosen = rng.randint(0, last)
        yield pool[moved.get(chosen, chosen)]
        moved[chosen] = moved.get(last, last)


class FirstRowSampler(SeededSampler):
    """Shows the first rows of the split to every document, itself included: the published Belebele configuration."""

    def sample(
        self, n: int, eval_doc: dict[str, Any] | None = None, df: Sequence[dict[str, Any]] | None = None, **_: Any
    ) -> list[dict[str, Any]]:
        """The first n rows, whatever the document."""
        return list(self.df[:n])
