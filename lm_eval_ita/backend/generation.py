"""Generated answers without needless work: a row ends with its answer, and equal prompts are asked once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = ["AnswerEnds", "cut_alike", "distinct"]

# As in the harness: the end of an answer may hold a stop string in more tokens than its own encoding has.
_MORE_TOKENS = 2


def distinct(requests: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Requests without those that only repeat another.

    Args:
        requests: The harness's instances of `generate_until`.

    Returns:
        Those to ask, and for each of `requests` the position of its answer. Sampled answers are all asked for.
    """
    asked: list[Any] = []
    known: dict[str, int] = {}
    which = []
    for request in requests:
        context, settings = request.args
        key = json.dumps([context, settings], sort_keys=True, default=str)
        if _samples(settings) or key not in known:
            known[key] = len(asked)
            asked.append(request)
        which.append(known[key])
    return asked, which


def _samples(settings: dict[str, Any]) -> bool:
    chosen = settings.get("do_sample")
    return bool(float(settings.get("temperature") or 0) > 0 if chosen is None else chosen)


def cut_alike(stops: Sequence[str]) -> bool:
    """Whether an answer that ends at the first stop string is cut where one that goes on would be.

    It is not where one string lies inside another but does not begin it: the longer one begins earlier, and is complete
    only later.
    """
    return all(stops) and not any(other.find(stop) > 0 for stop in stops for other in stops)


class AnswerEnds:
    """Ends each row of a batch with its answer, whichever stop string ends it.

    The harness's own criteria, one for each stop string, end a batch when all of its rows hold the same string.
    """

    def __init__(self, tokenizer: Any, stops: Sequence[str], start: int) -> None:
        """Look for stop strings.

        Args:
            tokenizer: The model's.
            stops: Of which any ends an answer.
            start: Where answers begin in a row of token ids.
        """
        self._tokenizer, self._stops, self._start = tokenizer, tuple(stops), start
        lengths = [len(tokenizer.encode(stop, add_special_tokens=False)) for stop in stops]
        self._window = max(lengths, default=0) + _MORE_TOKENS

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:
        """Which rows are complete, shape (rows,), as transformers asks after every token."""
        import torch

        answers = input_ids[:, self._start :]
        # The last tokens first, since decoding everything after every token would take quadratic time.
        ended = self._hold_stops(answers[:, -self._window :])
        for row in (row for row, holds in enumerate(ended) if holds):
            ended[row] = self._hold_stops(answers[row : row + 1])[0]
        return torch.tensor(ended, dtype=torch.bool, device=input_ids.device)

    def _hold_stops(self, rows: torch.Tensor) -> list[bool]:
        return [any(stop in text for stop in self._stops) for text in self._tokenizer.batch_decode(rows)]
