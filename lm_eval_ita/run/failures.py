"""How a run can end early: each way has its own exit code."""

__all__ = ["RunFailedError", "StoppedError"]


class RunFailedError(Exception):
    """The run cannot go on, and no option is to blame: the disk or the memory is full. Exit code 1."""


class StoppedError(BaseException):
    """SIGTERM asked for the end; what was finished is saved. Exit code 143.

    Like KeyboardInterrupt no `Exception`: it may be raised inside a library that takes those for its own.
    """
