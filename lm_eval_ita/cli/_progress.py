"""One bar for work in steps, on stderr; nothing where that is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["steps"]


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """A function that shows what is being done: (what, steps done, steps in all)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("", total=None)
        yield lambda what, done, total: bars.update(bar, description=what, completed=done, total=total)
