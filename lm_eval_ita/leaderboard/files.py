"""Where a store's files lie: what a folder and a repository of the Hub have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Change", "Files"]


@dataclass(frozen=True)
class Change:
    """Files that come and go together.

    Attributes:
        message: Why, one line.
        add: Path to content, in the order in which they are to appear; a path that is there already is never written.
        delete: Paths.
    """

    message: str
    add: Mapping[str, bytes] = field(default_factory=dict)
    delete: tuple[str, ...] = ()


class Files(Protocol):
    """A tree of files with slashes in their paths, two levels deep."""

    name: str
    """The place, for people."""

    def version(self, folder: str) -> str:
        """A text that changes whenever a file of the folder comes or goes."""

    def listing(self, folder: str) -> dict[str, str]:
        """The files of a folder by name, each with a stamp that changes when its content does."""

    def read(self, path: str) -> bytes | None:
        """A file's content; None where there is none.

        Raises:
            UserError: It cannot be read.
        """

    def fetch(self, folder: str, count: int) -> None:
        """Told before so many of a folder's files are read, one by one."""

    def change(self, decide: Callable[[], Change]) -> None:
        """Apply the change that `decide` makes of the present state; no other change comes between the two.

        `decide` may be called again where somebody else was quicker. What it raises is passed on, and nothing changes.

        Raises:
            UserError: The place cannot be written to, or a path to be added is there already with another content.
        """
