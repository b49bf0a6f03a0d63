"""The nearest of known names, for messages about misspelt ones."""

import difflib
from collections.abc import Iterable

__all__ = ["NEARLY", "did_you_mean", "nearest"]

# How like two names are when one is surely the other misspelt.
NEARLY = 0.8


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like this one; None where none is like it.

    Args:
        name: What was written.
        known: What there is.
        cutoff: How like, from 0 (anything) to 1 (equal but for the case of letters).
    """
    by_key = {candidate.casefold(): candidate for candidate in sorted(known)}
    found = difflib.get_close_matches(name.casefold(), by_key, n=1, cutoff=cutoff)
    return by_key[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """A mend: the nearest name as a question, or what to do where none is near."""
    near = nearest(name, known)
    return otherwise if near is None else f"did you mean {near}?"
