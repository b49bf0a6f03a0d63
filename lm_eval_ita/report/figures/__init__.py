"""Figures of results, for a page (SVG) and for a paper (SVG and PNG).

Each function takes the plain records of `inputs` and returns a matplotlib `Figure` that belongs to nobody: pyplot and
its state are never touched. matplotlib is an optional dependency (the extra `report`), imported when a figure is made.
"""

from lm_eval_ita.report.figures.bias_heatmap import bias_heatmap
from lm_eval_ita.report.figures.breakdown import breakdown
from lm_eval_ita.report.figures.category import category
from lm_eval_ita.report.figures.inputs import (
    BiasCell,
    BiasRow,
    Entry,
    OneShot,
    Outcomes,
    Part,
    RadarModel,
    Ranked,
    TaskPanel,
)
from lm_eval_ita.report.figures.oneshot_differences import oneshot_differences
from lm_eval_ita.report.figures.outcome_rates import outcome_rates
from lm_eval_ita.report.figures.output import as_svg, save
from lm_eval_ita.report.figures.radar import radar
from lm_eval_ita.report.figures.ranking import ranking

__all__ = [
    "BiasCell",
    "BiasRow",
    "Entry",
    "OneShot",
    "Outcomes",
    "Part",
    "RadarModel",
    "Ranked",
    "TaskPanel",
    "as_svg",
    "bias_heatmap",
    "breakdown",
    "category",
    "oneshot_differences",
    "outcome_rates",
    "radar",
    "ranking",
    "save",
]
