"""The store as the app reads it: the board of its newest state, and what a page of one model needs."""

import functools
import threading
import time
from collections.abc import Callable, Mapping

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.board import Board
from lm_eval_ita.leaderboard.brief import Brief
from lm_eval_ita.leaderboard.store import Store
from lm_eval_ita.results.published import published_by_suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission_records import TaskDocuments

__all__ = ["Library"]

# So long, in seconds, a store is not asked again whether it has changed.
_FRESH = 1.0
# So many newest submissions are looked into for what the commonest answer scores.
_LOOKED_INTO = 3


class Library:
    """Boards of a store. Its methods may be called from several threads.

    Args:
        store: Where the submissions are.
        clock: Seconds that only grow.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        self._clock = clock
        self._making = threading.Lock()
        self._asked = -_FRESH
        self._version: str | None = None
        self._board: Board | None = None
        # An approved submission never changes.
        self.submission = functools.lru_cache(maxsize=64)(store.get)
        self._documents = functools.lru_cache(maxsize=16)(store.documents)

    def board(self) -> Board:
        """The board of the store's newest state, or, while another thread makes that, of the last one."""
        board = self._board
        if board is not None and self._clock() - self._asked < _FRESH:
            return board
        if not self._making.acquire(blocking=board is None):
            assert board is not None
            return board
        try:
            return self._newest()
        except UserError:
            if board is None:
                raise
            # The store cannot be reached for now: what was there is still right.
            self._asked = self._clock()
            return board
        finally:
            self._making.release()

    def _newest(self) -> Board:
        version = self.store.version()
        if self._board is None or version != self._version:
            board = Board(self.store.current(), references(), published_by_suite(), self._majority())
            # Made before anybody waits for it.
            board.table("itaeval")
            self._board, self._version = board, version
        self._asked = self._clock()
        return self._board

    def _majority(self) -> dict[str, float]:
        """What always giving the commonest answer scores, by task, from the submissions that say so."""
        found: dict[str, float] = {}
        for brief in reversed(self.store.current()[-_LOOKED_INTO:]):
            for record in self.submission(brief.submission_id).run.tasks.values():
                value = record.baseline("majority")
                if value is not None:
                    found.setdefault(record.task, value)
        return found

    def history(self, submission_id: str) -> list[Brief]:
        """The earlier submissions that a submission replaced, newest first."""
        return [each for each in self.store.history(submission_id) if each.submission_id != submission_id]

    def documents(self, submission_id: str) -> Mapping[str, TaskDocuments]:
        """A submission's figures by document, by task; empty where it has none."""
        found = self._documents(submission_id)
        return {} if found is None else found.tasks
