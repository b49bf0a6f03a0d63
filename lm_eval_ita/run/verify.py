"""Whether a prepared folder is still what its manifest says.

Sizes are looked at every time. Contents are read once: what was found good is remembered with its size and its times
of change, in the user's cache and not in the folder, which may be read-only. So a start costs milliseconds, where
reading 16 GB costs a minute, and a file that is touched is read again.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lm_eval_ita.catalogue.fetch import cache_folder, progress, writing
from lm_eval_ita.errors import UserError
from lm_eval_ita.run.manifest import FileRecord, Item

__all__ = ["Difference", "Verified", "describe", "full_check", "quick_check", "remember"]

_BLOCK = 4 * 2**20
_THREADS = 4  # hashing leaves Python's lock; disks and network file systems like a few readers


@dataclass(frozen=True)
class Difference:
    """A file that is not what the manifest says.

    Attributes:
        file: Relative to the prepared folder.
        what: What is wrong with it.
    """

    file: str
    what: str


@dataclass(frozen=True)
class Verified:
    """What a check found.

    Attributes:
        differences: Files that are not as they should be; empty where all is well.
        files: How many were looked at.
        bytes_read: How much had to be read for it.
        remembered: Whether the next check can do without reading.
    """

    differences: tuple[Difference, ...]
    files: int
    bytes_read: int
    remembered: bool


def full_check(root: Path, items: Iterable[Item]) -> Verified:
    """Read every file of the items, whatever was found before."""
    items = list(items)
    by_size = list(_by_size(root, items))
    bad = {difference.file for difference in by_size}
    records = _records(items)
    hashed = _by_content(root, {file: record for file, record in records.items() if file not in bad})
    read = sum(records[file].bytes for file in records if file not in bad)
    good = set(records) - bad - {difference.file for difference in hashed}
    kept = remember(root, {file: records[file] for file in good})
    return Verified(tuple(sorted([*by_size, *hashed], key=lambda found: found.file)), len(records), read, kept)


def quick_check(root: Path, items: Iterable[Item]) -> Verified:
    """Look at the sizes of all files, and read those that were never read or have changed since.

    Nothing is read where a size is wrong already.
    """
    items = list(items)
    records = _records(items)
    if by_size := tuple(_by_size(root, items)):
        return Verified(by_size, len(records), 0, remembered=False)
    with _alone(root):
        known = _recall(root)
        fresh = {file: record for file, record in records.items() if known.get(file) != _mark(root / file, record)}
        if not fresh:
            return Verified((), len(records), 0, remembered=True)
        by_content = tuple(_by_content(root, fresh))
        bad = {difference.file for difference in by_content}
        kept = remember(root, {file: record for file, record in fresh.items() if file not in bad})
    return Verified(by_content, len(records), sum(record.bytes for record in fresh.values()), kept)


def describe(root: Path, files: Iterable[str], label: str) -> dict[str, FileRecord]:
    """Size and checksum of files.

    Args:
        root: The prepared folder.
        files: Relative to it.
        label: What the progress bar says.
    """
    sizes = {file: (root / file).stat().st_size for file in files}
    digests = _digests(root, sizes, label)
    return {file: FileRecord(bytes=size, sha256=digests[file]) for file, size in sizes.items()}


def _records(items: Iterable[Item]) -> dict[str, FileRecord]:
    return {file: record for item in items for file, record in item.files.items()}


def _by_size(root: Path, items: Iterable[Item]) -> Iterator[Difference]:
    for item in items:
        for file, record in item.files.items():
            try:
                size = (root / file).stat().st_size
            except OSError as error:
                missing = isinstance(error, FileNotFoundError | NotADirectoryError)
                yield Difference(file, "is missing" if missing else f"cannot be read ({error.strerror})")
                continue
            if size != record.bytes:
                yield Difference(file, f"has {size:,} bytes, and the manifest says {record.bytes:,}")
        yield from _strangers(root, item)


def _strangers(root: Path, item: Item) -> Iterator[Difference]:
    """A further file, such as a chat template, would be loaded like the others."""
    for path in sorted((root / item.folder).rglob("*")):
        file = path.relative_to(root).as_posix()
        hidden = any(part.startswith(".") for part in path.relative_to(root / item.folder).parts)
        if path.is_file() and not hidden and file not in item.files:
            yield Difference(file, "is not in the manifest")


def _by_content(root: Path, records: dict[str, FileRecord]) -> list[Difference]:
    digests = _digests(root, {file: record.bytes for file, record in records.items()}, "verifying")
    return [
        Difference(file, f"is not what was prepared (sha256 {digests[file][:12]}..., manifest {record.sha256[:12]}...)")
        for file, record in records.items()
        if digests[file] != record.sha256
    ]


def _digests(root: Path, sizes: dict[str, int], label: str) -> dict[str, str]:
    total = sum(sizes.values())
    done = 0
    with progress(label) as report, ThreadPoolExecutor(_THREADS) as pool:

        def read(block: int) -> None:
            nonlocal done
            done += block  # only a bar: a lost sum of two threads does no harm
            report(done, total)

        return dict(zip(sizes, pool.map(lambda file: _digest(root / file, read), sizes), strict=True))


def _digest(path: Path, read: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                read(len(block))
    except OSError as error:
        raise UserError(f"cannot be read ({error.strerror or error})", file=path) from error
    return digest.hexdigest()


def _mark(path: Path, record: FileRecord) -> list[object]:
    """A file as it is now, with the checksum that is expected of it; never equal to that of a changed one."""
    state = path.stat()
    return [record.sha256, state.st_size, state.st_mtime_ns, state.st_ctime_ns]


def _memory(root: Path) -> Path:
    name = hashlib.sha256(os.fsencode(root.absolute())).hexdigest()[:16]
    return cache_folder() / "prepared" / f"{name}.json"


def _recall(root: Path) -> dict[str, object]:
    """What was found good before; nothing where that is not known or damaged: it is then read again."""
    try:
        content = json.loads(_memory(root).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    files = content.get("files") if isinstance(content, dict) else None
    return files if isinstance(files, dict) else {}


def remember(root: Path, records: dict[str, FileRecord]) -> bool:
    """Keep for the next check that these files are good. False where the cache cannot be written."""
    files = {**_recall(root), **{file: _mark(root / file, record) for file, record in records.items()}}
    text = json.dumps({"folder": str(root.absolute()), "files": files}, indent=1)
    try:
        with writing(_memory(root), "set LM_EVAL_ITA_CACHE to a folder of yours") as beside:
            beside.write_text(text, encoding="utf-8")
    except UserError:
        return False  # the caller says so
    return True


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Several processes of one run begin at once: one reads, and the others find what it remembered."""
    import filelock

    path = _memory(root)
    lock = filelock.FileLock(path.with_suffix(".verify.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except (OSError, NotImplementedError):
        yield  # a cache that cannot be written, or without locks: each reads for itself
        return
    try:
        yield
    finally:
        lock.release()
