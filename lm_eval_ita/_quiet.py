"""Libraries without their noise."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet_bars", "quiet_hub", "quiet_transformers"]


def quiet_bars(model: str) -> None:
    """Switch off what the libraries show while a run has bars of its own. Before they are imported.

    Args:
        model: The harness's model type.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if model.startswith("vllm"):
        # vLLM divides by the time that its bar has been shown (0.32).
        os.environ.pop("TQDM_DISABLE", None)
    else:
        os.environ.setdefault("TQDM_DISABLE", "1")  # the harness's bars, one for every block


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Hide transformers' progress bar, and its report on layers that were left out on purpose."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def quiet_hub() -> Iterator[None]:
    """No progress bars of huggingface_hub in logs; in a terminal they stay."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    quiet = not sys.stderr.isatty() and not are_progress_bars_disabled()
    if quiet:
        disable_progress_bars()
    try:
        yield
    finally:
        if quiet:
            enable_progress_bars()
