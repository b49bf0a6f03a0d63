"""Bootstrap intervals against the plain loop: the statistic computed anew on every resample.

    python benchmarks/bench_stats.py [--samples N] [--resamples N]

Macro F1 against scikit-learn's `f1_score`, timed on a few resamples and multiplied; and the mean of as many different
values, which have no kinds to draw together and are the engine's slowest case, against `scipy.stats.bootstrap`.
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.stats
from _bench import seconds, show
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


def naive(golds: np.ndarray, preds: np.ndarray, resamples: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    values = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(golds), size=len(golds))
        values.append(f1_score(golds[drawn], preds[drawn], labels=[0, 1, 2], average="macro", zero_division=0))
    return np.array(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    golds, preds = workload(options.samples)
    distinct = np.random.default_rng(1).normal(size=options.samples)

    def ours_f1() -> object:
        statistic = confusion_statistic(golds, preds, 3, f1_macro_from_counts)
        return bootstrap(statistic, method="bca", resamples=options.resamples).interval()

    def ours_mean() -> object:
        return bootstrap(mean(distinct), method="bca", resamples=options.resamples).interval()

    naive(golds, preds, 1), ours_f1()  # imports and caches outside the clock
    found = []
    for name, times, reference, ours in (
        (
            "macro F1, sklearn",
            options.resamples / REFERENCE_RESAMPLES,
            lambda: naive(golds, preds, REFERENCE_RESAMPLES),
            ours_f1,
        ),
        (
            "mean, scipy",
            1,
            lambda: scipy.stats.bootstrap((distinct,), np.mean, n_resamples=options.resamples, batch=100, method="BCa"),
            ours_mean,
        ),
    ):
        slow = seconds(reference) * times
        fast = min(seconds(ours) for _ in range(3))
        found.append({"statistic": name, "reference": slow, "ours": fast, "ratio": slow / fast})
    rows = [
        {
            "statistic": str(each["statistic"]),
            "reference": f"{each['reference']:.1f} s",
            "ours": f"{each['ours']:.2f} s",
            "ratio": f"{each['ratio']:.1f}",
        }
        for each in found
    ]
    title = f"{options.samples} samples, {options.resamples} resamples, BCa intervals"
    show(title, rows, {"samples": options.samples, "resamples": options.resamples, "statistics": found})


if __name__ == "__main__":
    main()
