"""Two courtesies for people who run our tasks through the plain `lm_eval` command."""

import logging
import sys
from types import TracebackType

from lm_eval_ita.errors import UserError

_OUR_PREFIXES = ("itaeval_", "itapat_")


class _QuietCustomDataset(logging.Filter):
    """Drops the hint about `--metadata` that lm_eval 0.4.13 logs as a warning for every task with a custom data set."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        return not (message.startswith(_OUR_PREFIXES) and "Custom kwargs can be passed to `--metadata`" in message)


def install() -> None:
    """Filter that one message, and make an uncaught `UserError` one line and exit code 2 instead of a traceback.

    Other exceptions go to the hook that was there before. Calling this twice changes nothing.
    """
    logger = logging.getLogger("lm_eval.api.task")
    if not any(isinstance(existing, _QuietCustomDataset) for existing in logger.filters):
        logger.addFilter(_QuietCustomDataset())
    if not getattr(sys.excepthook, "_lm_eval_ita", False):
        previous = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            if isinstance(error, UserError):
                print(f"lm-eval-ita: {error}", file=sys.stderr)
                # Raised inside the hook, SystemExit sets the exit code; otherwise Python ends with 1.
                raise SystemExit(2)
            previous(kind, error, trace)

        hook._lm_eval_ita = True  # type: ignore[attr-defined]
        sys.excepthook = hook
