"""SIGTERM, which a cluster sends before it kills: the block in hand is finished and saved first."""

import signal
import threading
from types import FrameType
from typing import Any

from lm_eval_ita.run.failures import StoppedError

__all__ = ["Termination"]


class Termination:
    """Listens to SIGTERM while it is entered.

    Attributes:
        asked: Whether the signal came.
        wait_for_block: Whether there is something to finish first: then only `asked` is set, and whoever answers blocks
            looks at it between two of them. Otherwise, and at a second signal, `StoppedError` is raised on the spot.
    """

    def __init__(self) -> None:
        self.asked = False
        self.wait_for_block = False
        self._before: Any = None

    def __enter__(self) -> "Termination":
        if threading.current_thread() is threading.main_thread():  # only there can signals be caught
            self._before = signal.signal(signal.SIGTERM, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if again or not self.wait_for_block:
            raise StoppedError
