"""Bootstrap of macro F1 against scikit-learn's f1_score on every resample.

Prints a ratio, so that the figure travels between machines:

    python benchmarks/bootstrap_macro_f1.py [--samples N] [--resamples N]

The reference is timed on a few resamples, and its time multiplied. A mean of as many different values,
which has no kinds to draw together, is timed as well: it is the engine's slowest vectorised case.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import f1_score

from lm_eval_ita.stats.bootstrap import bootstrap
from lm_eval_ita.stats.confusion import f1_macro_from_counts
from lm_eval_ita.stats.statistic import confusion_statistic, mean

REFERENCE_RESAMPLES = 100


def workload(samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Three labels of 50, 30 and 20%, 70% of them found, some predictions unparsable (-1)."""
    rng = np.random.default_rng(0)
    golds = rng.choice(3, size=samples, p=[0.5, 0.3, 0.2])
    return golds, np.where(rng.random(samples) < 0.7, golds, rng.integers(-1, 3, size=samples))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def naive(golds: np.ndarray, preds: np.ndarray, resamples: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    values = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(golds), size=len(golds))
        values.append(f1_score(golds[drawn], preds[drawn], labels=[0, 1, 2], average="macro", zero_division=0))
    return np.array(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    golds, preds = workload(options.samples)
    distinct = np.random.default_rng(1).normal(size=options.samples)

    def ours() -> object:
        statistic = confusion_statistic(golds, preds, 3, f1_macro_from_counts)
        return bootstrap(statistic, method="bca", resamples=options.resamples).interval()

    naive(golds, preds, 1), ours()  # imports and caches outside the clock
    reference = seconds(lambda: naive(golds, preds, REFERENCE_RESAMPLES)) * options.resamples / REFERENCE_RESAMPLES
    fast = min(seconds(ours) for _ in range(3))
    slowest = seconds(lambda: bootstrap(mean(distinct), method="bca", resamples=options.resamples).interval())
    print(f"workload: {options.samples} samples, three labels, {options.resamples} resamples, BCa interval of macro F1")
    print(f"reference: sklearn.metrics.f1_score, {reference:.1f} s (from {REFERENCE_RESAMPLES} resamples)")
    print(f"ours {fast:.3f} s; ratio {reference / fast:.0f}")
    print(f"a mean of as many different values: {slowest:.2f} s")


if __name__ == "__main__":
    main()
