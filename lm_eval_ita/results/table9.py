"""What the one-shot anti-stereotypical prompts change: Table 9 of the ItaP-AT paper, with an interval and a p-value.

The paper prints standard minus one-shot. Signed, a positive difference may also be a bias that turned round; only a
drop in |s| is a reduction of bias.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lm_eval_ita.errors import UserError
from lm_eval_ita.results._paired import paired
from lm_eval_ita.results.answers import answers_of
from lm_eval_ita.results.compare import interval_and_p
from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.stats.multiplicity import holm

__all__ = ["OneShotRow", "one_shot_rows"]


@dataclass(frozen=True)
class OneShotRow:
    """One test with both kinds of prompts.

    Attributes:
        test: "gender_6".
        standard, oneshot: The bias scores, -1 to 1.
        difference: standard - oneshot, as in the paper.
        absolute: |standard| - |oneshot|: positive where the bias is reduced.
        low, high: 95% interval of the signed difference, by word; None without samples.
        p_value, p_holm: Of no difference, exchanging the two prompts' answers word by word; adjusted over the tests.
    """

    test: str
    standard: float
    oneshot: float
    difference: float
    absolute: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_holm: float | None = None


def one_shot_rows(tasks: Mapping[str, TaskRecord], *, resamples: int = 10_000) -> list[OneShotRow]:
    """The tests of one model that were run with both kinds of prompts.

    Args:
        tasks: The model's tasks by name.
        resamples: Of the bootstrap and of the drawn exchanges.
    """
    rows = []
    for name, standard in tasks.items():
        oneshot = tasks.get(name.replace("itapat_", "itapat_oneshot_", 1))
        if standard.suite == "itapat" and not standard.oneshot and oneshot is not None:
            row = _row(name, standard, oneshot, resamples)
            rows += [row] if row is not None else []
    adjusted = holm([math.nan if row.p_value is None else row.p_value for row in rows])
    return [replace(row, p_holm=None if math.isnan(p) else p) for row, p in zip(rows, adjusted, strict=True)]


def _row(name: str, standard: TaskRecord, oneshot: TaskRecord, resamples: int) -> OneShotRow | None:
    one, two = standard.primary_value, oneshot.primary_value
    if one is None or two is None:
        return None
    row = OneShotRow(name.removeprefix("itapat_"), one, two, one - two, abs(one) - abs(two))
    try:
        pair = paired(standard, answers_of(oneshot, by_word=True), answers_of(standard, by_word=True))
    except UserError:
        return row  # no samples, or not the same words: the printed figures are all there is
    _, low, high, p_value, _ = interval_and_p(pair, resamples)
    return replace(row, low=low, high=high, p_value=p_value)
