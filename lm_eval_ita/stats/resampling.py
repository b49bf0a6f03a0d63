"""Which units a bootstrap draws, and the drawing.

A unit is a sample, or a cluster of samples that are drawn together. Units of one stratum whose samples carry the same
rows are one kind; how often each kind is drawn is multinomial. Blocks of resamples keep memory bounded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lm_eval_ita.stats._checks import reject_str
from lm_eval_ita.stats.statistic import Floats, Ints, Statistic

__all__ = ["Stratum", "group_units", "leave_one_out_sums", "resampled_sums", "total", "value_of"]

# Numbers in one block of draws: 16 MB of float64.
_BLOCK = 1 << 21
# A multinomial costs one binomial a kind, drawing indices one integer and one increment a unit; measured ratio.
_BINOMIAL_COST = 8


@dataclass(frozen=True)
class Stratum:
    """Units drawn from one another's place.

    Attributes:
        kinds: Shape (t, d), sparse: the sum of the rows of one unit of each kind.
        copies: Shape (t,): how many units are of that kind.
        size: Number of units.
    """

    kinds: csr_array
    copies: Ints
    size: int


def group_units(
    statistic: Statistic, clusters: Sequence[Hashable] | None = None, strata: Sequence[Hashable] | None = None
) -> list[Stratum]:
    """Sort the samples into strata, clusters and kinds, in an order that does not depend on the samples' order.

    Args:
        statistic: Over n samples; missing ones are left out.
        clusters: Length n; every sample its own unit when None. The same name in two strata is two clusters.
        strata: Length n; one stratum when None.

    Returns:
        One entry a stratum that holds any sample.

    Raises:
        TypeError: `clusters` or `strata` is a string.
        ValueError: Lengths differ.
    """
    reject_str(clusters=clusters, strata=strata)
    n = len(statistic.row_of)
    for name, labels in (("clusters", clusters), ("strata", strata)):
        if labels is not None and len(labels) != n:
            raise ValueError(f"lengths differ: {name} has {len(labels)}, the statistic has {n} samples")
    known = np.flatnonzero(statistic.row_of >= 0)
    members: dict[Hashable, list[int]] = {}
    if strata is None:
        members = {"": known.tolist()} if len(known) else {}
    else:
        for i in known.tolist():
            members.setdefault(strata[i], []).append(i)
    ordered = sorted(members, key=lambda label: (str(label), type(label).__name__))
    return [_stratum(statistic, np.array(members[label], dtype=np.int64), clusters) for label in ordered]


def total(strata: Sequence[Stratum]) -> Floats:
    """The sum of the rows of all samples, shape (1, d)."""
    sums = np.zeros((1, strata[0].kinds.shape[1]))
    for stratum in strata:
        sums += _product(stratum.copies[None, :].astype(np.float64), stratum.kinds)
    return sums


def value_of(statistic: Statistic) -> float:
    """The statistic of all samples; NaN for none."""
    units = group_units(statistic)
    return float(statistic.function(total(units))[0]) if units else math.nan


def resampled_sums(
    strata: Sequence[Stratum], resamples: int, rng: np.random.Generator, *, shorter: int = 0
) -> Iterator[Floats]:
    """Draw with replacement within each stratum.

    Args:
        strata: At least one; each of more than `shorter` units.
        resamples: Number of resamples.
        rng: Source of the draws.
        shorter: How many fewer units than the stratum holds are drawn (1 for the bootstrap of Rao and Wu). The draws
            of each stratum are then weighed so that it keeps its share.

    Yields:
        Sums of rows, shape (block, d), `resamples` rows in all.
    """
    width = max(strata[0].kinds.shape[1], *(_numbers_a_draw(stratum) for stratum in strata))
    block = max(1, _BLOCK // width)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        sums = np.zeros((rows, strata[0].kinds.shape[1]))
        for stratum in strata:
            drawn = stratum.size - shorter
            weights = _draw(rng, stratum, drawn, rows)
            if shorter and len(strata) > 1:  # in a single stratum a common factor changes nothing
                weights *= stratum.size / drawn
            sums += _product(weights, stratum.kinds)
        yield sums


def leave_one_out_sums(strata: Sequence[Stratum]) -> Iterator[tuple[Stratum, Iterator[Floats]]]:
    """Leave out one unit of each kind in turn; the others of its stratum are weighed so that it keeps its share.

    Yields:
        Each stratum with its sums, shape (block, d), one row a kind. Strata have at least two units.
    """
    everything = total(strata)
    block = max(1, _BLOCK // everything.shape[1])
    for stratum in strata:
        own = total([stratum])
        # In a single stratum a common factor changes nothing, and whole weights stay whole.
        factor = stratum.size / (stratum.size - 1) if len(strata) > 1 else 1.0
        rest = everything - own + factor * own
        starts = range(0, len(stratum.copies), block)
        yield stratum, (rest - factor * stratum.kinds[start : start + block].toarray() for start in starts)


def _stratum(statistic: Statistic, members: Ints, clusters: Sequence[Hashable] | None) -> Stratum:
    rows = statistic.row_of[members]
    if clusters is None:
        kinds, copies = np.unique(rows, return_counts=True)
        return Stratum(csr_array(statistic.rows[kinds]), copies.astype(np.int64), len(rows))
    contents: dict[Hashable, list[int]] = {}
    for i, row in zip(members.tolist(), rows.tolist(), strict=True):
        contents.setdefault(clusters[i], []).append(row)
    # Rows are summed in the order of their numbers, so that sums do not depend on the order of the samples.
    counted = Counter(tuple(sorted(content)) for content in contents.values())
    profiles = sorted(counted)
    columns = np.array([row for profile in profiles for row in profile], dtype=np.int64)
    starts = np.cumsum([0, *(len(profile) for profile in profiles)])
    profile_rows = csr_array((np.ones(len(columns)), columns, starts), shape=(len(profiles), statistic.rows.shape[0]))
    copies = np.array([counted[profile] for profile in profiles], dtype=np.int64)
    return Stratum(csr_array(profile_rows @ statistic.rows), copies, len(contents))


def _by_multinomial(stratum: Stratum) -> bool:
    return len(stratum.copies) * _BINOMIAL_COST <= stratum.size or stratum.size < _BINOMIAL_COST * _BINOMIAL_COST


def _numbers_a_draw(stratum: Stratum) -> int:
    return len(stratum.copies) if _by_multinomial(stratum) else stratum.size


def _draw(rng: np.random.Generator, stratum: Stratum, drawn: int, resamples: int) -> Floats:
    """How often each kind is drawn, shape (resamples, t)."""
    kinds = len(stratum.copies)
    if _by_multinomial(stratum):
        return rng.multinomial(drawn, stratum.copies / stratum.size, size=resamples).astype(np.float64)
    kind_of = np.repeat(np.arange(kinds, dtype=np.int64), stratum.copies)
    picks = kind_of[rng.integers(0, stratum.size, size=(resamples, drawn))]
    picks += kinds * np.arange(resamples)[:, None]
    return np.bincount(picks.ravel(), minlength=resamples * kinds).reshape(resamples, kinds).astype(np.float64)


def _product(weights: Floats, kinds: csr_array) -> Floats:
    return np.asarray(weights @ kinds, dtype=np.float64)
