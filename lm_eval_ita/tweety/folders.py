"""Folders that are there whole, or not at all."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lm_eval_ita.errors import UserError

__all__ = ["is_of_the_disk", "whole_folder"]


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A folder to write into, beside `target`, which it becomes at the end; removed if anything fails.

    Raises:
        UserError: `target` exists and is not empty, or the disk is full or closed.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserError("is already there; name another folder, or remove it first", file=target)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        partial.mkdir(parents=True)
        yield partial
        for file in partial.rglob("*"):
            if file.is_file():
                with file.open("rb") as handle:
                    os.fsync(handle.fileno())
        partial.replace(target)
    except Exception as error:
        if is_of_the_disk(error):
            why = getattr(error, "strerror", None) or str(error)
            raise UserError(f"cannot be written: {why}; nothing was left behind", file=target) from error
        raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO}


def is_of_the_disk(error: BaseException) -> bool:
    """Whether a write failed: as the system says it, or as safetensors or torch do."""
    if isinstance(error, OSError):
        return error.errno in _DISK
    return type(error).__name__ == "SafetensorError" or (
        isinstance(error, RuntimeError)
        and any(sign in str(error) for sign in ("PytorchStreamWriter", "file write failed"))
    )
