"""Groups of models that a ranking cannot tell apart: the compact letter display.

Source: Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons". Two models share a
group exactly when they do not differ significantly. The groups are the largest sets of models of which no two differ;
Piepho's insert-and-absorb finds them. Overlap of two models' own intervals is no test of their difference (Schenker and
Gentleman 2001), so ties come from p-values or intervals of the pairwise differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
import numpy.typing as npt

from lm_eval_ita.stats._checks import check_level, reject_str

__all__ = ["TieGroups", "tie_groups", "tied_by_intervals", "tied_by_p_values"]

_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TieGroups:
    """Ties among m models.

    Attributes:
        groups: Each group's models (positions in the input), best first; the groups with the best models first.
        letters: Length m: the letters of each model's groups, "ab" for the first two; "" without a score. After 52
            groups letters carry a number: "a2".
    """

    groups: tuple[tuple[int, ...], ...]
    letters: tuple[str, ...]


def tied_by_p_values(p_values: npt.ArrayLike, alpha: float = 0.05) -> _Bools:
    """Which models do not differ significantly.

    Args:
        p_values: Shape (m, m), symmetric: the p-value of each pair, adjusted for the number of pairs (`holm`). The
            diagonal is not read; NaN is a comparison that was not made, which shows no difference.
        alpha: Significance level, between 0 and 1 exclusive.

    Returns:
        Shape (m, m), symmetric, True on the diagonal.

    Raises:
        TypeError: `p_values` is a string.
        ValueError: Not square, not symmetric in what is significant, or a number out of range.
    """
    p = _square(p_values, "p_values")
    check_level(alpha, "alpha")
    off = p[~np.eye(len(p), dtype=bool)]
    if np.any((off < 0) | (off > 1)):
        raise ValueError("p-values must lie between 0 and 1")
    return _symmetric(~(p < alpha), "p_values")


def tied_by_intervals(low: npt.ArrayLike, high: npt.ArrayLike) -> _Bools:
    """Which models do not differ significantly: the interval of their difference holds 0.

    Args:
        low, high: Shape (m, m): bounds of the difference of model i minus model j, so that low[j, i] = -high[i, j]. The
            diagonal is not read; NaN is a comparison that was not made, which shows no difference.

    Returns:
        Shape (m, m), symmetric, True on the diagonal.

    Raises:
        TypeError: An argument is a string.
        ValueError: Not square, shapes differ, a lower bound is above its upper one, or the two halves contradict
            each other.
    """
    lower, upper = _square(low, "low"), _square(high, "high")
    if lower.shape != upper.shape or np.any((lower > upper) & ~np.eye(len(lower), dtype=bool)):
        raise ValueError("low and high must have one shape, and low must not exceed high")
    return _symmetric(~((lower > 0) | (upper < 0)), "low and high")


def tie_groups(scores: npt.ArrayLike, tied: npt.ArrayLike) -> TieGroups:
    """Group the models of a ranking.

    Two models share a group exactly when they are tied, and every model is in a group at least by itself. Groups may
    overlap, since ties are not transitive. Renumbering the models renumbers the groups' members and nothing else.
    The number of groups can grow fast where ties contradict the order of the scores; usually it is below m.

    Args:
        scores: Shape (m,), higher is better. A model whose score is NaN is in no group.
        tied: Shape (m, m), symmetric, from `tied_by_p_values` or `tied_by_intervals`. The diagonal is not read.

    Raises:
        TypeError: An argument is a string.
        ValueError: Shapes do not fit, or `tied` is not symmetric.
    """
    reject_str(scores=scores)
    values = np.asarray(scores, dtype=np.float64)
    share = _symmetric(_square(tied, "tied") != 0, "tied")
    if values.ndim != 1 or len(values) != len(share):
        raise ValueError(f"scores has shape {values.shape}, tied has shape {share.shape}")
    ranked = [int(i) for i in np.argsort(-values, kind="stable") if not math.isnan(values[i])]
    columns = [frozenset(ranked)] if ranked else []
    for place, i in enumerate(ranked):
        for j in ranked[place + 1 :]:
            if not share[i, j]:
                columns = _insert_and_absorb(columns, i, j)
    position = {model: place for place, model in enumerate(ranked)}
    places = sorted(sorted(position[model] for model in column) for column in columns)
    groups = [tuple(ranked[place] for place in group) for group in places]
    letters = ["".join(_letter(g) for g, group in enumerate(groups) if i in group) for i in range(len(values))]
    return TieGroups(tuple(groups), tuple(letters))


def _insert_and_absorb(columns: Sequence[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Split every group that holds both of two different models; drop the parts that another group contains."""
    kept = [column for column in columns if not (i in column and j in column)]
    # No group contains another, so a part cannot contain a group, nor a part of another one.
    parts = [column - {model} for column in columns if i in column and j in column for model in (i, j)]
    return kept + [part for part in parts if not any(part < other for other in kept)]


def _letter(group: int) -> str:
    turn, place = divmod(group, len(ascii_letters))
    return ascii_letters[place] + (str(turn + 1) if turn else "")


def _square(matrix: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    reject_str(**{name: matrix})
    array = np.asarray(matrix, dtype=np.float64)
    if array.size == 0:
        array = array.reshape(0, 0)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} has shape {array.shape}; it must be square")
    return array


def _symmetric(matrix: _Bools, name: str) -> _Bools:
    np.fill_diagonal(matrix, True)
    if not np.array_equal(matrix, matrix.T):
        raise ValueError(f"{name} must say the same of (i, j) and (j, i)")
    return matrix
