"""A store's files in a data set repository of the Hugging Face Hub: every change is one commit, or none.

A commit names the one that it was decided on, and the Hub refuses it where another came between: it is then decided
again on what is there now. Files that were read are kept in the Hub's cache on this machine.
"""

import contextlib
import hashlib
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita._quiet import quiet_hub
from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.leaderboard.files import Change

__all__ = ["HubFiles", "repository_of"]

_LOCATION = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
_FOLDERS = re.compile(r"(submissions|documents|pending|rejected|decisions)/[^/]+\.json")
# For how many seconds a look at the Hub is believed.
_FRESH = 20.0
_PATIENCE = 10.0  # seconds for the Hub to answer at all
_ATTEMPTS = 10
# More files than these are fetched many at a time.
_FEW = 8
_CONFLICT, _BUSY = (409, 412), (429, 500, 502, 503, 504)


def repository_of(location: str) -> tuple[str, str | None]:
    """The repository and the branch that "hf://datasets/ORG/NAME@BRANCH" names.

    Raises:
        UserError: It names none.
    """
    match = _LOCATION.fullmatch(location)
    if match is None:
        raise UserError(f"{location[:200]!r} names no data set of the Hub: write hf://datasets/ORG/NAME")
    return match[1], match[2]


@dataclass(frozen=True)
class _Tree:
    """The repository at one commit.

    Attributes:
        commit: Which.
        blobs: Path to the hash of the file's content, as git makes it.
    """

    commit: str
    blobs: dict[str, str]


class HubFiles:
    """A data set repository, which must be there."""

    def __init__(self, location: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Remember the place; nothing is asked yet.

        Args:
            location: "hf://datasets/ORG/NAME", with "@BRANCH" for another branch than the main one.
            pause: Waits for so many seconds between two attempts.
        """
        from huggingface_hub import HfApi

        self._repository, self._branch = repository_of(location)
        self.name = location
        self._pause = pause
        self._api = HfApi(library_name="lm-eval-ita")
        self._lock = threading.RLock()
        self._head: tuple[str, float] | None = None
        self._tree: _Tree | None = None

    def version(self, folder: str) -> str:
        """A hash of the folder's files; where the Hub does not answer, of those that it named last."""
        with self._lock:
            try:
                tree = self._files()
            except UserError:
                if self._tree is None:
                    raise
                # Readers go on with what there is; who writes is told.
                tree = self._tree
                self._head = (tree.commit, time.monotonic())
        files = "\n".join(
            f"{path} {blob}" for path, blob in sorted(tree.blobs.items()) if path.startswith(f"{folder}/")
        )
        return hashlib.sha256(files.encode()).hexdigest()[:16]

    def listing(self, folder: str) -> dict[str, str]:
        """The files of a folder; the stamp is the hash of the content."""
        with self._lock:
            blobs = self._files().blobs
        start = f"{folder}/"
        return {path.removeprefix(start): blob for path, blob in sorted(blobs.items()) if path.startswith(start)}

    def read(self, path: str) -> bytes | None:
        """A file's content, from the Hub's cache on this machine where it is there."""
        with self._lock:
            tree = self._files()
        if path not in tree.blobs:
            return None
        with self._answering(f"{path} cannot be read"):
            local = self._api.hf_hub_download(self._repository, path, repo_type="dataset", revision=tree.commit)
            return Path(local).read_bytes()

    def fetch(self, folder: str, count: int) -> None:
        """Download a folder's files at once, where there are many to be read."""
        if count <= _FEW:
            return
        with self._lock:
            commit = self._files().commit
        with self._answering(f"{folder} cannot be read"), quiet_hub():
            self._api.snapshot_download(
                self._repository, repo_type="dataset", revision=commit, allow_patterns=[f"{folder}/*.json"]
            )

    def change(self, decide: Callable[[], Change]) -> None:
        """Decide, commit, and where another commit was quicker, decide again."""
        for attempt in range(_ATTEMPTS):
            with self._lock:
                self._commit(ask=True)
                change = decide()
                failure = self._committed(change)
                if failure is None:
                    return
                # An answer that was lost on its way says nothing about the commit.
                self._commit(ask=True)
                if self._is_done(change):
                    return
            # Several who were refused together do not come back together.
            self._pause(min(8.0, 0.25 * 2**attempt) * random.uniform(0.5, 1.5))
        raise UserError(f"{self.name} cannot be written: {failure}, {_ATTEMPTS} times in a row; try again later")

    def _committed(self, change: Change) -> str | None:
        """Send one commit; why it is to be tried again, or None where it is done."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete
        from huggingface_hub.errors import HfHubHTTPError

        tree = self._files()
        for path, content in change.add.items():
            if tree.blobs.get(path, _blob(content)) != _blob(content):
                raise UserError(f"{path} is there already with another content, and is never overwritten")
        new = [CommitOperationAdd(path, content) for path, content in change.add.items() if path not in tree.blobs]
        gone = [CommitOperationDelete(path) for path in change.delete if path in tree.blobs]
        with self._answering("cannot be written"):
            try:
                done = self._api.create_commit(
                    self._repository,
                    [*new, *gone],
                    commit_message=change.message,
                    repo_type="dataset",
                    revision=self._branch,
                    parent_commit=tree.commit,
                )
            except HfHubHTTPError as error:
                status = error.response.status_code
                if status in _CONFLICT:
                    return "others write at the same time"
                if status in _BUSY:
                    return f"the Hub answers {status}"
                raise
        self._head = (done.oid, time.monotonic())
        return None

    def _is_done(self, change: Change) -> bool:
        blobs = self._files().blobs
        is_added = all(blobs.get(path) == _blob(content) for path, content in change.add.items())
        return is_added and not any(path in blobs for path in change.delete)

    def _commit(self, *, ask: bool = False) -> str:
        """The branch's commit, asked for where the last answer is too old."""
        if ask or self._head is None or time.monotonic() - self._head[1] > _FRESH:
            with self._answering("cannot be reached"):
                info = self._api.repo_info(
                    self._repository, repo_type="dataset", revision=self._branch, timeout=_PATIENCE
                )
            self._head = (str(info.sha), time.monotonic())
        return self._head[0]

    def _files(self) -> _Tree:
        from huggingface_hub.hf_api import RepoFile

        commit = self._commit()
        if self._tree is None or self._tree.commit != commit:
            with self._answering("cannot be read"):
                entries = self._api.list_repo_tree(
                    self._repository, recursive=True, revision=commit, repo_type="dataset"
                )
                files = [entry for entry in entries if isinstance(entry, RepoFile)]
            blobs = {file.path: file.blob_id for file in files if _FOLDERS.fullmatch(file.path)}
            self._tree = _Tree(commit, blobs)
        return self._tree

    @contextlib.contextmanager
    def _answering(self, what: str) -> Iterator[None]:
        """Failures of the Hub as one line; its client also raises whatever its HTTP library does."""
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

        try:
            yield
        except UserError:
            raise
        except OfflineModeIsEnabled as error:
            why = "HF_HUB_OFFLINE forbids the network; open a local folder instead"
            raise UserError(f"{self.name} {what}: {why}") from error
        except RepositoryNotFoundError as error:
            why = "there is no such data set, or this token may not see it (HF_TOKEN, or `hf auth login`)"
            raise UserError(f"{self.name} {what}: {why}") from error
        except HfHubHTTPError as error:
            raise UserError(f"{self.name} {what}: {_reason(error)}") from error
        except Exception as error:
            raise UserError(f"{self.name} {what}: {type(error).__name__}: {one_line(error)}") from error


def _reason(error: Any) -> str:
    status = error.response.status_code
    if status in (401, 403):
        return "this token may not write there (HF_TOKEN, or `hf auth login` with a token that may)"
    return f"the Hub answers {status}: {one_line(error)}"


def _blob(content: bytes) -> str:
    """Git's hash of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
