"""Reasoning that a model writes before its answer, between think tags: what every reader of answers does with it."""

import re

__all__ = ["without_reasoning"]

_OPEN_TAG = re.compile(r"<\s*(think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_CLOSE_TAG = re.compile(r"<\s*/\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)


def without_reasoning(answer: str) -> str | None:
    """The answer without its reasoning blocks; None when one never ends.

    A closing tag alone ends a block that the chat template opened in the prompt.
    """
    kept: list[str] = []
    position = 0
    while True:
        opened = _OPEN_TAG.search(answer, position)
        closed = _CLOSE_TAG.search(answer, position)
        if closed and (opened is None or closed.start() < opened.start()):
            kept.clear()
            position = closed.end()
        elif opened:
            end = _CLOSE_TAG.search(answer, opened.end())
            if end is None:
                return None
            kept.append(answer[position : opened.start()])
            position = end.end()
        else:
            return " ".join([*kept, answer[position:]])
