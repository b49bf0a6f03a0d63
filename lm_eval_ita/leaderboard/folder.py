"""A store's files in a local folder: written beside and linked into place, so nothing is half there or replaced."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.files import Change

__all__ = ["FolderFiles", "write_new"]


class FolderFiles:
    """A folder; made at the first change."""

    def __init__(self, root: Path) -> None:
        if root.exists() and not root.is_dir():
            raise UserError("is no folder; name one that holds a store, or a new one", file=root)
        self.root = root
        self.name = str(root)

    def version(self, folder: str) -> str:
        """The folder's time of change and number of files: they come and go, and never change."""
        path = self.root / folder
        try:
            return f"{path.stat().st_mtime_ns:x}.{len(os.listdir(path)):x}"  # noqa: PTH208  # names only
        except FileNotFoundError:
            return "empty"
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror or error}", file=path) from error

    def listing(self, folder: str) -> dict[str, str]:
        """The files of a folder; the stamp is size and time of change."""
        try:
            with os.scandir(self.root / folder) as entries:
                found = {
                    entry.name: f"{entry.stat().st_size:x}.{entry.stat().st_mtime_ns:x}"
                    for entry in entries
                    if entry.name.endswith(".json") and not entry.name.startswith(".")
                }
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror or error}", file=self.root / folder) from error
        return dict(sorted(found.items()))

    def read(self, path: str) -> bytes | None:
        """A file's content."""
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"cannot be read: {error.strerror or error}", file=self.root / path) from error

    def fetch(self, folder: str, count: int) -> None:
        """Nothing: the files are here."""

    def change(self, decide: Callable[[], Change]) -> None:
        """Decide and write under the folder's lock, which other processes respect."""
        with self._writing():
            change = decide()
            for path, content in change.add.items():
                write_new(self.root / path, content)
            for path in change.delete:
                (self.root / path).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with FileLock(self.root / ".lock"):
                yield
        except OSError as error:
            raise UserError(f"cannot be written: {error.strerror or error}", file=self.root) from error


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all, and keep it through a loss of power.

    Raises:
        UserError: It is there with another content, or cannot be written.
    """
    try:
        _write_new(path, content)
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", file=path) from error


def _write_new(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if path.read_bytes() == content:
            return
        raise UserError("is there already with another content, and is never overwritten", file=path)
    handle, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.chmod(0o644)
        try:
            # Unlike a rename, a link does not replace what a program without our lock may have put there.
            os.link(partial, path)
        except FileExistsError:
            raise UserError("was written by another program at the same time; try again", file=path) from None
        except OSError:  # a file system without links
            partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
