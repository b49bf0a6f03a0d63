"""The folder of a translation in progress: what a model was asked is never asked again, whatever stops the run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError

__all__ = ["Log", "begin", "sha"]

_SETTINGS = "settings.json"


def sha(text: str) -> str:
    """A short name for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Log:
    """A file of answers by the text that was asked: one line a batch, whole or not there.

    Args:
        path: The file; what is there is read, and a last line that a kill cut off is removed.

    Raises:
        UserError: A line before the last is damaged, or the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: dict[str, Any] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            content = path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                self._file.truncate(whole)
        except OSError as error:
            raise UserError(f"cannot be written: {error.strerror or error}", file=path) from error
        for number, line in enumerate(content[:whole].split(b"\n")[:-1], start=1):
            try:
                record = json.loads(line)
                self._answers.update(zip(record["keys"], record["answers"], strict=True))
            except (ValueError, TypeError, KeyError) as error:
                raise UserError("is damaged; delete the file to ask again", file=path, line=number) from error

    def __contains__(self, text: str) -> bool:
        return sha(text) in self._answers

    def __getitem__(self, text: str) -> Any:
        return self._answers[sha(text)]

    def add(self, texts: Sequence[str], answers: Sequence[Any]) -> None:
        """Save the answers of a batch, on the disk before the next one is asked.

        Raises:
            UserError: The disk is full, or the file cannot be written.
        """
        keys = [sha(text) for text in texts]
        line = memoryview(json.dumps({"keys": keys, "answers": list(answers)}).encode() + b"\n")
        try:
            while line:  # a disk that fills up takes a part first
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            mend = "free some space; the same command goes on"
            raise UserError(f"cannot be written ({error.strerror or error}): {mend}", file=self._path) from error
        self._answers.update(zip(keys, answers, strict=True))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextlib.contextmanager
def begin(folder: Path, settings: Mapping[str, Any]) -> Iterator[None]:
    """Enter the folder of a translation: alone, and with the settings that it was begun with.

    Raises:
        UserError: Another process is at work in it, or it was begun with other settings.
    """
    import filelock

    lock = filelock.FileLock(folder / ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise UserError("another process is translating into this folder; wait for it", file=folder) from error
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", file=folder) from error
    except NotImplementedError:
        pass  # a cluster's file system without locks
    try:
        _same_settings(folder, json.loads(json.dumps(settings)))
        yield
    finally:
        lock.release()


def _same_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    path = folder / _SETTINGS
    if not path.exists():
        write_whole(path, json.dumps(settings, indent=1, ensure_ascii=False) + "\n")
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError("is damaged; delete the folder to begin anew", file=path) from error
    for name in {**before, **settings}:
        if before.get(name) != settings.get(name):
            what = f"{name} was {before.get(name)!r} and is now {settings.get(name)!r}"
            raise UserError(f"was begun with other settings ({what}); name another --to, or delete it", file=folder)
