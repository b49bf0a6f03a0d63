"""The one figure of a task: its score, and the score's interval."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results._tasks import task_record
from lm_eval_ita.results.answers import answers_of, statistic_of
from lm_eval_ita.results.records import TaskRecord

__all__ = ["Headline", "headline"]


@dataclass(frozen=True)
class Headline:
    """A task's score.

    Attributes:
        metric: Its name.
        score: Its value; None where it is missing.
        low, high: The 95% interval: the task's own for ItaP-AT, else a bootstrap over documents (BCa). None where there
            is none: no samples, a scorer model that judges all documents together, too few documents.
        sample: Whether it was computed on sample rows, which compare with nothing.
    """

    metric: str
    score: float | None
    low: float | None = None
    high: float | None = None
    sample: bool = False

    @property
    def text(self) -> str:
        """For people."""
        value = "missing" if self.score is None else f"{self.score:.4f}"
        interval = "" if self.low is None or self.high is None else f"  [{self.low:.4f}, {self.high:.4f}]"
        return f"{self.metric} {value}{interval}"


def headline(task: str, content: Mapping[str, Any], samples: Path | None) -> Headline:
    """Find a task's score.

    Args:
        task: Its name.
        content: The content of a results file that holds the task.
        samples: Its samples; None where none were logged.
    """
    record = task_record(task, content, lambda _: samples)
    if record.primary_metric is None:
        # Not ours: the first figure that it reports.
        name, value = next(iter(record.metrics.items()), ("score", None))
        return Headline(name, value)
    value = record.primary_value if record.score is None else record.score
    low, high = (None, None) if value is None else _interval(record)
    known = low is not None and high is not None and math.isfinite(low) and math.isfinite(high)
    bounds = (low, high) if known else (None, None)
    return Headline(record.primary_metric, value, *bounds, sample=record.data == "sample")


def _interval(record: TaskRecord) -> tuple[float | None, float | None]:
    if record.suite == "itapat":
        return record.metrics.get("bias_score_ci_low"), record.metrics.get("bias_score_ci_high")
    # SciPy takes a second to import: only here.
    from lm_eval_ita.stats.bootstrap import bootstrap

    try:
        found = statistic_of(record, list(answers_of(record).values.values()))
    except UserError:
        return None, None
    estimate = bootstrap(found).interval()
    return estimate.low, estimate.high
