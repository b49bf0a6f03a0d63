"""The model's answers to a task, kept as they come: one line of JSON a block, whole or not there.

Our own in place of the harness's response cache; docs/architecture.md says why.
"""

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.folder import disk_errors

__all__ = ["AnswerLog", "request_keys"]

# A kill of the process loses nothing that was written; a crash of the machine, what was written this long before.
_SYNC_SECONDS = 1.0


def request_keys(kind: str, requests: Sequence[Any]) -> list[str]:
    """A name for each request: of its kind, its text and settings, and how many equal ones came before it.

    Args:
        kind: "loglikelihood", "generate_until" or "loglikelihood_rolling".
        requests: The harness's instances.
    """
    seen: Counter[str] = Counter()
    keys = []
    for request in requests:
        text = json.dumps([kind, *request.args], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        seen[digest] += 1
        # Equal requests are asked separately: with sampling, their answers differ.
        keys.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return keys


class AnswerLog:
    """The file of one task's answers, open for reading and appending.

    Attributes:
        costs: The cost of each block in the file, in its order.
        halvings: How often `hf-packed` had to halve its packs for the last of these answers (`set_halvings`).
    """

    def __init__(self, path: Path) -> None:
        """Read what is there; a last line that a kill cut off is removed.

        Raises:
            UserError: A line before the last is damaged, or the file cannot be read or written.
        """
        self.costs: list[dict[str, Any]] = []
        self.halvings = 0
        self._answers: dict[str, Any] = {}
        self._batches: dict[str, list[int]] = {}
        self._path = path
        self._synced = time.monotonic()
        with disk_errors(path):
            path.parent.mkdir(exist_ok=True)
            self._file = path.open("ab", buffering=0)
        if path.is_file():  # it may be a device
            self._read()

    def _read(self) -> None:
        content = self._path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with disk_errors(self._path):
                self._file.truncate(whole)
        for number, line in enumerate(content[:whole].split(b"\n")[:-1], start=1):
            try:
                record = json.loads(line)
                if "batches" in record:
                    self._batches |= record["batches"]
                    continue
                if "halvings" in record:
                    self.halvings = int(record["halvings"])
                    continue
                self._answers.update(zip(record["keys"], record["answers"], strict=True))
                self.costs.append(record["cost"])
            except (ValueError, TypeError, KeyError) as error:
                mend = "delete the file to ask the model again"
                raise UserError(f"is damaged ({error}); {mend}", file=self._path, line=number) from error

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __getitem__(self, key: str) -> Any:
        return self._answers[key]

    def add(self, keys: Sequence[str], answers: Sequence[Any], cost: Mapping[str, Any]) -> None:
        """Save the answers of a block.

        Raises:
            RunFailedError, FolderError: As `disk_errors`.
        """
        self._append({"keys": list(keys), "answers": list(answers), "cost": dict(cost)})
        self._answers.update(zip(keys, answers, strict=True))
        self.costs.append(dict(cost))

    def batches(self, kind: str) -> list[int]:
        """The automatic batch sizes that were found for this kind of request, from the longest documents on."""
        return self._batches.get(kind, [])

    def all_batches(self) -> list[int]:
        """Every automatic batch size of the task."""
        return [size for sizes in self._batches.values() for size in sizes]

    def set_batches(self, kind: str, sizes: Sequence[int]) -> None:
        """Save the automatic batch sizes: a run that goes on must cut the same blocks."""
        self._append({"batches": {kind: list(sizes)}})
        self._batches[kind] = list(sizes)

    def set_halvings(self, halvings: int) -> None:
        """Save how often packs were halved for lack of memory: a run that goes on must form the same ones."""
        self._append({"halvings": halvings})
        self.halvings = halvings

    def _append(self, record: Mapping[str, Any]) -> None:
        with disk_errors(self._path):
            line = memoryview(json.dumps(record, default=_plain).encode() + b"\n")
            while line:  # a disk that fills up takes a part first
                line = line[self._file.write(line) :]
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()

    def close(self) -> None:
        """Close the file."""
        with disk_errors(self._path):
            self._file.close()


def _plain(value: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return value.item()
