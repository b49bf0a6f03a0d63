"""Downloads of single files: resumable, checksummed, atomic, safe when several processes want the same file.

Built on `requests`, which lm_eval already brings along (through `evaluate`): it follows redirects and honours proxy
and certificate settings, and unlike huggingface_hub's downloader its behaviour on plain URLs is public API.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    import requests

__all__ = ["Download", "cache_folder", "is_intact", "progress", "reason", "writing"]

_CHUNK = 1 << 13  # what a cut connection loses at most of the bytes that did arrive
# Called with (bytes so far, bytes in all or None).
Report = Callable[[int, "int | None"], None]


class _Again(Exception):
    """A failure that another attempt may mend; its text says what happened."""


def cache_folder() -> Path:
    """Where downloads are kept: LM_EVAL_ITA_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("LM_EVAL_ITA_CACHE"):
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("lm-eval-ita"))


def is_intact(path: Path, sha256: str | None) -> bool:
    """Whether a downloaded file is there with the digest it must have: the known one, else the one it came with."""
    recorded = _digest_file(path)
    if not path.is_file() or (sha256 is None and not recorded.is_file()):
        return False
    return _digest(path) == (sha256 or recorded.read_text(encoding="ascii").strip())


def _digest_file(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextlib.contextmanager
def writing(target: Path, mend: str) -> Iterator[Path]:
    """Write a file beside its place and rename it there, alone among processes.

    Yields the path to write to. It is renamed to `target` when the block ends well and deleted otherwise.

    Args:
        target: The file to write.
        mend: What the user can do if its folder cannot be written to.
    """
    with _locked(target, mend):
        beside = target.with_name(f".{target.name}.new")
        try:
            yield beside
            beside.replace(target)
        except OSError as error:
            raise UserError(f"cannot be written ({error.strerror or error}): {mend}", file=target) from error
        finally:
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(target: Path, mend: str) -> Iterator[None]:
    import filelock

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(target.with_name(f".{target.name}.lock"))
        lock.acquire()
    except OSError as error:
        raise UserError(
            f"the folder cannot be written to ({error.strerror or error}): {mend}", file=target.parent
        ) from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def progress(label: str) -> Iterator[Report]:
    """A progress bar on standard error for the time of a download; nothing where that is not a terminal."""
    import rich.console
    import rich.progress

    console = rich.console.Console(stderr=True)
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.DownloadColumn(),
        rich.progress.TransferSpeedColumn(),
    )
    bar = rich.progress.Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())
    with bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@dataclass(frozen=True)
class Download:
    """One file to fetch.

    Args:
        url: Where it is.
        target: Where it goes. A digest file lies beside it, so that later changes to it are noticed.
        sha256: Its digest, or None where that is not known.
        timeout: Seconds without an answer, or without a further byte, after which an attempt is given up.
        attempts: How often a failure that may pass (cut connection, timeout, server error) is tried in all.
        pause: Seconds before the second attempt; doubled for each further one.
    """

    url: str
    target: Path
    sha256: str | None = None
    timeout: float = 30.0
    attempts: int = 3
    pause: float = 1.0
    report: Report = field(default=lambda done, total: None)

    @property
    def _part(self) -> Path:
        return self.target.with_name(self.target.name + ".part")

    @property
    def _tag(self) -> Path:
        return self.target.with_name(self.target.name + ".part.etag")

    def run(self) -> Path:
        """Fetch the file unless it is already there, and return its path.

        A cut download stays beside the target as `.part` and is taken up by the next attempt or the next run; under
        the target's own name there is never anything but the whole, verified file.

        Raises:
            UserError: It cannot be had, is not the expected file, or the folder cannot be written to.
        """
        if is_intact(self.target, self.sha256):
            return self.target
        with _locked(self.target, "set LM_EVAL_ITA_CACHE to a folder of yours"):
            if is_intact(self.target, self.sha256):  # another process was faster
                return self.target
            try:
                self._attempt_all()
                self._take_over()
            except OSError as error:
                raise UserError(f"cannot be written ({error.strerror or error})", file=self.target) from error
        return self.target

    def _attempt_all(self) -> None:
        for attempt in range(1, self.attempts + 1):
            try:
                self._attempt()
            except _Again as error:
                if attempt == self.attempts:
                    raise UserError(f"{self.url}: {error} ({self.attempts} attempts)") from error
                time.sleep(self.pause * 2 ** (attempt - 1))
            else:
                return

    def _attempt(self) -> None:
        import requests

        start, headers = self._resume_point()
        try:
            with requests.get(self.url, headers=headers, stream=True, timeout=self.timeout) as answer:
                if answer.status_code == requests.codes.requested_range_not_satisfiable:
                    self._drop_part()
                    raise _Again("the server no longer has the rest of a file begun earlier")
                self._refuse_errors(answer)
                self._receive(answer, start if answer.status_code == requests.codes.partial_content else 0)
        except requests.Timeout as error:
            raise _Again(f"no answer within {self.timeout:g} s") from error
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            # requests reports a stalled body as a ConnectionError
            stalled = "timed out" in str(error).lower()
            raise _Again(
                f"no answer within {self.timeout:g} s"
                if stalled
                else f"the connection failed or was cut: {reason(error)}"
            ) from error
        except requests.RequestException as error:
            raise UserError(f"{self.url}: {reason(error)}") from error

    def _resume_point(self) -> tuple[int, dict[str, str]]:
        """How many bytes are there already, and the request headers that ask for the rest.

        Without the ETag of the first answer nothing says that the rest would belong to the same file.
        """
        headers = {"Accept-Encoding": "identity"}  # compressed in transit, sizes and ranges would not be the file's
        if not self._part.is_file() or not self._tag.is_file() or not (start := self._part.stat().st_size):
            return 0, headers
        return start, headers | {"Range": f"bytes={start}-", "If-Range": self._tag.read_text(encoding="utf-8")}

    def _refuse_errors(self, answer: requests.Response) -> None:
        if answer.ok:
            return
        what = f"HTTP {answer.status_code} {answer.reason}".strip()
        if answer.status_code >= 500 or answer.status_code in (408, 429):
            raise _Again(what)
        raise UserError(f"{answer.url}: {what}")

    def _receive(self, answer: requests.Response, start: int) -> None:
        tag = answer.headers.get("ETag", "")
        self._tag.unlink(missing_ok=True)
        if tag and not tag.startswith("W/"):  # a weak tag does not promise the same bytes
            self._tag.write_text(tag, encoding="utf-8")
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length else None
        done = start
        with self._part.open("ab" if start else "wb") as file:
            for chunk in answer.iter_content(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                self.report(done, total)
        if total is not None and done != total:  # urllib3 1.x does not notice it by itself
            raise _Again(f"the connection was cut after {done} of {total} bytes")

    def _drop_part(self) -> None:
        self._part.unlink(missing_ok=True)
        self._tag.unlink(missing_ok=True)

    def _take_over(self) -> None:
        found = _digest(self._part)
        if self.sha256 is not None and found != self.sha256:
            self._drop_part()
            raise UserError(
                f"{self.url}: wrong checksum: expected sha256 {self.sha256}, found {found}; the file was changed at "
                "its origin or on the way and was not kept"
            )
        # The digest first: a file without one counts as absent, a digest without a file does no harm.
        _digest_file(self.target).write_text(found + "\n", encoding="ascii")
        self._part.replace(self.target)
        self._drop_part()


def reason(error: Exception) -> str:
    """The innermost reason of a chain of library exceptions, in one line."""
    inner: BaseException = error
    while (cause := inner.__cause__ or inner.__context__) is not None:
        inner = cause
    return " ".join(f"{type(inner).__name__}: {inner}".split())[:200]
