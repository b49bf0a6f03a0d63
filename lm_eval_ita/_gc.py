"""Python's search for garbage, left out where it only costs time."""

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["no_collections"]


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Without looking for garbage among hundreds of thousands of objects that all stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
