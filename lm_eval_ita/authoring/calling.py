"""Calling the code of a task's author, which may fail in any way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lm_eval_ita.errors import UserError, one_line

__all__ = ["Outcome", "attempt"]


class Outcome(NamedTuple):
    """What a call came to: a value, or the error it raised."""

    value: Any = None
    error: BaseException | None = None

    @property
    def reason(self) -> str:
        """The error on one line; empty where there is none."""
        if self.error is None:
            return ""
        text = one_line(self.error.what if isinstance(self.error, UserError) else self.error)
        return text if isinstance(self.error, UserError) else f"{type(self.error).__name__}: {text}".rstrip(": ")


def attempt(function: Callable[..., Any], *args: Any, **options: Any) -> Outcome:
    """Call a function and keep what it raises."""
    try:
        return Outcome(function(*args, **options))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it is, it is what the task's author wants to know
        return Outcome(error=error)
