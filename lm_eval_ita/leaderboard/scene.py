"""What every page is made from."""

from dataclasses import dataclass
from typing import Any

from lm_eval_ita.leaderboard.board import Board
from lm_eval_ita.leaderboard.library import Library
from lm_eval_ita.leaderboard.texts import Texts
from lm_eval_ita.leaderboard.views import View
from lm_eval_ita.results.suite import Column
from lm_eval_ita.results.summary import SHORT

__all__ = ["Scene"]


@dataclass(frozen=True)
class Scene:
    """A view of a board in a language.

    Attributes:
        view: What is asked for.
        t: The words.
        board: The figures.
        library: Where the board came from.
        is_open: Whether submissions are taken.
        largest_upload: In bytes.
    """

    view: View
    t: Texts
    board: Board
    library: Library
    is_open: bool = True
    largest_upload: int = 0

    def link(self, **changes: Any) -> str:
        """The address of this view with some fields changed."""
        query = self.view.but(**changes).query()
        return f"?{query}" if query else "?"

    def page_link(self, tab: str, **changes: Any) -> str:
        """The address of another page, which keeps the language and the models to compare."""
        view = View(language=self.view.language, models=self.view.models)
        query = view.but(tab=tab, **changes).query()
        return f"?{query}" if query else "?"

    def short(self, column: Column) -> str:
        """A column's name in a table's head."""
        return SHORT.get(column.name, column.name.removeprefix("oneshot_").split("_", 1)[-1])
