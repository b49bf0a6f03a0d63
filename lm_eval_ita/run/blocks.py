"""Cutting a task's requests into blocks: always the same ones, whatever was answered before and by how many processes.

A batch's composition moves the last digits of its log-likelihoods, and now and then a generated word. Equal blocks give
equal figures, so a run that went on after a kill, or on several GPUs, equals one that did not.
"""

import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["BatchSizes", "block_sizes", "partition"]

# Backends that form their own batches (vLLM, servers) get this many documents at a time, to keep them busy. Ours say
# themselves how many (`documents_per_block`).
_OWN_BATCHES = 256

Documents = list[list[int]]


def documents(requests: Sequence[Any]) -> Documents:
    """Positions of the requests of each document, the longest documents first.

    As in the harness: a batch then holds texts of about one length, and what does not fit into memory fails at once.
    """
    by_document: dict[Any, list[int]] = {}
    for position, request in enumerate(requests):
        by_document.setdefault(request.doc_id, []).append(position)
    lengths = [_length(request) for request in requests]
    return sorted(by_document.values(), key=lambda positions: (-max(lengths[i] for i in positions), positions))


def _length(request: Any) -> int:
    return sum(len(part) for part in request.args if isinstance(part, str))


def partition(ordered: Documents, sizes: Sequence[int]) -> Documents:
    """Cut documents into blocks.

    Args:
        ordered: As `documents` returns them.
        sizes: Documents in a block, each size for an equal share of the documents, in order.

    Returns:
        For each block, the positions of its requests.
    """
    blocks: Documents = []
    start = 0
    while start < len(ordered):
        size = sizes[start * len(sizes) // len(ordered)]
        blocks.append([position for positions in ordered[start : start + size] for position in positions])
        start += size
    return blocks


class BatchSizes:
    """How many documents the model gets at a time."""

    def __init__(self, lm: Any, batch_size: str) -> None:
        """Take what the user asked for.

        Args:
            lm: The harness's model.
            batch_size: A number, "auto", or "auto:N" to look for a size N times within a task.
        """
        self._lm = lm
        self._pads = hasattr(lm, "_detect_batch_size") and hasattr(lm, "batch_size_per_gpu")
        self._auto = batch_size.startswith("auto")
        self._number = 0 if self._auto else int(batch_size)
        self._searches = int(float(batch_size.partition(":")[2] or 1)) if self._auto else 1

    def must_search(self, kind: str) -> bool:
        """Whether sizes are found by trying. Backends that form their own batches need none."""
        return self._auto and self._own_batches(kind) is None

    def known(self, kind: str) -> list[int]:
        """The sizes, where nothing has to be tried."""
        if int(getattr(self._lm, "data_parallel_size", None) or 1) > 1:
            return [sys.maxsize]  # the harness starts all copies of vLLM anew for each call: a task is one block
        return [max(self._number, self._own_batches(kind) or 1)]

    def _own_batches(self, kind: str) -> int | None:
        """Documents that keep a backend busy which forms its own batches; None where a block is a batch."""
        if not self._pads:
            return _OWN_BATCHES
        found: int | None = getattr(self._lm, "documents_per_block", None) if kind == "loglikelihood" else None
        return found

    def search(self, kind: str, requests: Sequence[Any], ordered: Documents) -> list[int]:
        """Try which batches fit into memory, for the longest text of each share of the documents."""
        searches = min(self._searches, len(ordered))
        starts = [len(ordered) * number // searches for number in range(searches)]
        return [self._try(kind, max((requests[i] for i in ordered[start]), key=_length)) for start in starts]

    def _try(self, kind: str, request: Any) -> int:
        context = self._lm.tok_encode(request.args[0])
        if kind == "generate_until":
            # The harness tries the model's full length here, which takes hours on a CPU: long enough is what will come.
            continuation = [0] * int(request.args[1].get("max_gen_toks", self._lm.max_gen_toks))
        else:
            continuation = self._lm.tok_encode(request.args[-1])
        return int(self._lm._detect_batch_size([("", context, continuation)], 0))

    def use(self, kind: str, size: int) -> None:
        """Set the model to a size that was found."""
        if self.must_search(kind):
            self._lm.batch_size_per_gpu = size


def block_sizes(block: Sequence[int], requests: Sequence[Any]) -> int:
    """Number of documents in a block."""
    return len({requests[position].doc_id for position in block})
