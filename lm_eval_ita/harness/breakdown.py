"""A metric value with parts: whole in the results JSON, one short cell in the harness's table."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Breakdown"]


class Breakdown(dict[str, Any]):
    """A mapping that lm_eval's table prints as a short summary and its JSON writer as an object.

    lm_eval prints every metric of a task as one row, whatever its value; a plain dict would flood the table.

    Args:
        parts: Name to value.
        summary: What the table shows.
    """

    def __init__(self, parts: Mapping[str, Any], summary: str) -> None:
        super().__init__(parts)
        self.summary = summary

    def __str__(self) -> str:
        return self.summary

    __repr__ = __str__
