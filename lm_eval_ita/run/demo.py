"""The demonstrations: the gender tests of ItaP-AT, or ItaEval on sample rows, as tables for people."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.stats.multiplicity import holm

__all__ = ["AssociationRow", "ScoreRow", "association_rows", "score_rows", "tasks_without_scorer"]


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


@dataclass(frozen=True)
class ScoreRow:
    """One ItaEval task in a table for people.

    Attributes:
        task: Task name.
        category: "nlu", "cfk" or "bfs".
        metric: The primary metric behind the score.
        n: Documents.
        score: Higher is better; NaN where it is missing.
        chance, majority: What guessing, and always giving the commonest answer, score on these documents; None where
            there is no such thing.
    """

    task: str
    category: str
    metric: str
    n: int
    score: float
    chance: float | None
    majority: float | None


def tasks_without_scorer() -> tuple[list[str], dict[str, str]]:
    """The ItaEval tasks that need no scorer model, and for each other the model that it needs."""
    from lm_eval_ita.harness.itaeval import SCORERS
    from lm_eval_ita.harness.task_files import read_task_files

    free: list[str] = []
    needs: dict[str, str] = {}
    for file in read_task_files():
        if file.card is None or file.card.suite != "itaeval":
            continue
        scorer = SCORERS.get(file.card.primary_metric)
        if scorer is None:
            free.append(file.name)
        else:
            needs[file.name] = f"{scorer.name} (or a local folder in {scorer.variable})"
    return free, needs


def score_rows(results: Mapping[str, Any]) -> list[ScoreRow]:
    """The ItaEval tasks of a harness result, by category."""
    rows = []
    for name, config in results["configs"].items():
        card = config["metadata"]
        if card.get("suite") != "itaeval":
            continue
        figures = results["results"][name]
        baselines = figures.get("baselines,none", {})
        metric = card["primary_metric"]
        chance, majority = (_baseline(baselines.get(kind, {}), metric) for kind in ("chance", "majority"))
        rows.append(
            ScoreRow(name, card["category"], metric, figures["sample_len"], figures["score,none"], chance, majority)
        )
    order = ("nlu", "cfk", "bfs")
    return sorted(rows, key=lambda row: (order.index(row.category), row.task))


def _baseline(figures: Mapping[str, float], metric: str) -> float | None:
    # Choices are guessed alike whatever the normalisation: the baseline of acc is that of acc_norm.
    return figures.get(metric, figures.get("acc") if metric == "acc_norm" else None)
