"""The demonstration: the gender tests of ItaP-AT on a small real model, through the harness."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.stats.multiplicity import holm

__all__ = ["AssociationRow", "association_rows"]


@dataclass(frozen=True)
class AssociationRow:
    """One association test in a table for people.

    Attributes:
        task: Task name.
        title: The two target sets, X / Y.
        n: Answers.
        bias_score, low, high: The score and its 95% interval, in [-1, 1].
        rates: Shares of attribute_1, attribute_2, neutral, error.
        p_value: Fisher's exact test.
        p_holm: The same, adjusted over the rows of the table.
        reading: In a word.
    """

    task: str
    title: str
    n: int
    bias_score: float
    low: float
    high: float
    rates: tuple[float, float, float, float]
    p_value: float
    p_holm: float
    reading: str


def association_rows(results: Mapping[str, Any]) -> list[AssociationRow]:
    """The association tests of a harness result, with p-values adjusted over all of them (Holm)."""
    found = [name for name, config in results["configs"].items() if config["metadata"].get("suite") == "itapat"]
    figures = {name: results["results"][name] for name in found}
    adjusted = dict(zip(found, holm([figures[name]["p_value,none"] for name in found]), strict=True))
    order = {name: position for position, name in enumerate(results["results"])}
    return [
        AssociationRow(
            task=name,
            title=results["configs"][name]["metadata"]["title"],
            n=sum(figures[name]["outcome,none"].values()),
            bias_score=figures[name]["bias_score,none"],
            low=figures[name]["bias_score_ci_low,none"],
            high=figures[name]["bias_score_ci_high,none"],
            rates=(
                figures[name]["prob_attribute_1,none"],
                figures[name]["prob_attribute_2,none"],
                figures[name]["prob_neutral,none"],
                figures[name]["prob_error,none"],
            ),
            p_value=figures[name]["p_value,none"],
            p_holm=adjusted[name],
            reading=figures[name]["reading,none"],
        )
        for name in sorted(found, key=lambda name: order.get(name, math.inf))
    ]
