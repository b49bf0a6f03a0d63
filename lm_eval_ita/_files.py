"""Writing whole files: what is there under a name is never half of something."""

import os
from pathlib import Path

from lm_eval_ita.errors import UserError

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write a text beside its place, in UTF-8, and move it there; folders are made.

    Raises:
        UserError: The place cannot be written to.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_text(text, encoding="utf-8", newline="\n")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", file=path) from error
