"""From result files to typed records, and from records to the suite's tables.

`collect` finds and reads files, `read_run` reads one, `iter_samples` streams what a run logged per document.
"""

from lm_eval_ita.results.collect import Collection, Superseded, collect
from lm_eval_ita.results.reader import read_run
from lm_eval_ita.results.records import (
    SCHEMA_VERSION,
    Breakdowns,
    Hardware,
    ModelIdentity,
    RunRecord,
    TaskRecord,
)
from lm_eval_ita.results.samples import find_samples, iter_samples

__all__ = [
    "SCHEMA_VERSION",
    "Breakdowns",
    "Collection",
    "Hardware",
    "ModelIdentity",
    "RunRecord",
    "Superseded",
    "TaskRecord",
    "collect",
    "find_samples",
    "iter_samples",
    "read_run",
]
