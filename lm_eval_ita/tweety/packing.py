"""A corpus as one file of tokens, cut into sequences of the same length: what training reads, on every machine alike.

The corpus is streamed once, cleaned and written; training then goes to any place of it without reading what comes
before, so that a run that goes on after a kill starts at once.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError

__all__ = ["Packed", "PackedDataset", "open_packed", "pack"]

_BATCH = 256  # documents tokenised at a time


@dataclass(frozen=True)
class Packed:
    """A packed corpus.

    Attributes:
        tokens: All tokens, sequence after sequence (mapped from the file).
        length: Tokens of a sequence.
        counts: What came of the documents: see `contamination.clean`.
    """

    tokens: npt.NDArray[Any]
    length: int
    counts: dict[str, int]

    @property
    def sequences(self) -> int:
        """Number of sequences."""
        return len(self.tokens) // self.length


class PackedDataset:
    """The sequences, for transformers' Trainer."""

    def __init__(self, packed: Packed) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return self._packed.sequences

    def __getitem__(self, number: int) -> dict[str, Any]:
        import torch

        start = number * self._packed.length
        tokens = torch.from_numpy(self._packed.tokens[start : start + self._packed.length].astype(np.int64))
        return {"input_ids": tokens, "labels": tokens}


def pack(
    documents: Iterable[str], tokenizer: Any, folder: Path, *, length: int, tokens: int, counts: Counter[str], key: str
) -> Packed:
    """Write a packed corpus.

    Each document is followed by the token that ends a text, and begins with `bos` where the tokenizer sets one; a
    sequence may hold several documents, and a document may go on in the next sequence. What remains after the last
    whole sequence is dropped.

    Args:
        documents: The corpus; reading stops when there are tokens enough.
        tokenizer: A fast tokenizer of transformers, with `eos`.
        folder: Gets `tokens.bin` and `packed.json`.
        length: Tokens of a sequence, 2 or more.
        tokens: Tokens wanted; fewer where the corpus ends before.
        counts: Counted by whoever makes `documents`; kept with the corpus.
        key: What the corpus was made of; `open_packed` asks for it.

    Raises:
        UserError: The disk is full, or the corpus gives not one sequence.
    """
    kind = np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32
    wanted = -(-tokens // length) * length
    partial = folder / f".tokens.{os.getpid()}"
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            for chunk in _chunks(documents, tokenizer):
                data = np.array(chunk[: wanted - written], dtype=kind).tobytes()
                file.write(data)
                written += len(data) // kind().itemsize
                if written >= wanted:
                    break
            kept = written // length * length
            file.truncate(kept * kind().itemsize)
        if not kept:
            raise UserError(f"the corpus has {written} tokens: not one sequence of {length}", file=folder)
        partial.replace(folder / "tokens.bin")
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", file=folder) from error
    finally:
        partial.unlink(missing_ok=True)
    content = {"key": key, "type": kind.__name__, "length": length, "tokens": kept, "counts": dict(counts)}
    write_whole(folder / "packed.json", json.dumps(content, indent=1))
    packed = open_packed(folder, key)
    assert packed is not None
    return packed


def _chunks(documents: Iterable[str], tokenizer: Any) -> Iterator[list[int]]:
    batch: list[str] = []
    for text in documents:
        batch.append(text)
        if len(batch) == _BATCH:
            yield _tokens(batch, tokenizer)
            batch = []
    if batch:
        yield _tokens(batch, tokenizer)


def _tokens(texts: Sequence[str], tokenizer: Any) -> list[int]:
    end = tokenizer.eos_token_id
    found: list[int] = []
    for own in tokenizer(list(texts))["input_ids"]:
        found += own if own and own[-1] == end else [*own, end]
    return found


def open_packed(folder: Path, key: str) -> Packed | None:
    """A packed corpus that is there whole and was made of `key`; else None."""
    try:
        content = json.loads((folder / "packed.json").read_text(encoding="utf-8"))
        if content["key"] != key:
            return None
        tokens = np.memmap(folder / "tokens.bin", dtype=content["type"], mode="r")
    except (OSError, ValueError, KeyError):
        return None
    return Packed(tokens, content["length"], content["counts"]) if len(tokens) == content["tokens"] else None
