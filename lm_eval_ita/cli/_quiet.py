"""Libraries and task code that print, while a command looks at task files."""

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping

__all__ = ["OFFLINE", "quiet"]

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_SETTINGS = {"LM_EVAL_ITA_SCORERS": "skip", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}


@contextlib.contextmanager
def quiet(settings: Mapping[str, str] | None = None) -> Iterator[None]:
    """No messages of libraries, no scorer models, and standard output for findings only.

    Args:
        settings: More environment variables, such as `OFFLINE`. Libraries read them when they are imported.
    """
    before = dict(os.environ)
    os.environ.update({**_SETTINGS, **(settings or {})})
    logging.disable(logging.ERROR)
    try:
        with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
        os.environ.clear()
        os.environ.update(before)
