"""A metric value with parts: whole in the results JSON, short in the harness's table."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Breakdown"]


class Breakdown(dict[str, Any]):
    """A part of a metric value that prints as one short figure.

    lm_eval's table prints every metric of a task as one cell, whatever its value. A metric that is a plain dict of
    Breakdowns stays readable there ("{'1': +0.25, '2': -0.06}"), while the JSON holds everything.

    Args:
        parts: Name to value, as the JSON shows them.
        short: What the table shows.
    """

    def __init__(self, parts: Mapping[str, Any], short: str) -> None:
        super().__init__(parts)
        self._short = short

    def __repr__(self) -> str:
        return self._short
