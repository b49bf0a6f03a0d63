"""Input checks and the one mean that every metric shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lm_eval_ita.stats._checks import reject_str

__all__ = ["Mean", "check_same_length", "mean_defined", "reject_str"]


def check_same_length(**sequences: Sequence[object]) -> int:
    """Return the common length of the sequences; raise `ValueError`, naming them, when they differ."""
    lengths = {name: len(values) for name, values in sequences.items()}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"lengths differ: {described}")
    return next(iter(lengths.values()), 0)


@dataclass(frozen=True)
class Mean:
    """A mean over the rows that have a value.

    Attributes:
        value: The mean; NaN when no row has a value.
        n: Rows that have a value.
        invalid: Rows that have none (NaN). They are left out of `value` and must be reported beside it.
    """

    value: float
    n: int
    invalid: int


def mean_defined(values: Iterable[float]) -> Mean:
    """Average the rows that have a value and count the others.

    Args:
        values: One number per row; NaN marks a row without a value.

    Returns:
        The mean, NaN for an empty input or when all rows are NaN, with both counts.
    """
    rows = [float(value) for value in values]
    defined = [value for value in rows if not math.isnan(value)]
    value = math.fsum(defined) / len(defined) if defined else math.nan
    return Mean(value=value, n=len(defined), invalid=len(rows) - len(defined))
