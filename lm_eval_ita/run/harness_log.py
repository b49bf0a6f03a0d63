"""What the harness logs while a run works: into a file, since a warning for every prompt would hide everything else."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lm_eval_ita.run.folder import disk_errors

__all__ = ["Warnings", "harness_log"]

_LOGGERS = ("lm_eval", "lm_eval_ita", "transformers")


class Warnings(logging.Handler):
    """Counts warnings and errors.

    Attributes:
        count: So far.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self.count += 1


@contextmanager
def harness_log(path: Path | None) -> Iterator[Warnings]:
    """Append the libraries' messages to a file, or drop them where there is none; yields the count of warnings."""
    file: logging.Handler = logging.NullHandler()
    if path is not None:
        with disk_errors(path):
            file = logging.FileHandler(path, encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    file.setLevel(logging.INFO)
    warnings = Warnings()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(file)
        logger.addHandler(warnings)
    try:
        yield warnings
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(file)
            logger.removeHandler(warnings)
            logger.setLevel(level)
            logger.propagate = propagate
        file.close()
