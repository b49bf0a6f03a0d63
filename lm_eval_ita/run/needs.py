"""What tasks need besides the model: splits of data sets, and scorer models. From their cards; nothing is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lm_eval_ita import catalogue
from lm_eval_ita.harness.itaeval import SCORERS
from lm_eval_ita.metrics.scorers import ScorerModel, scorers_skipped

__all__ = ["WISHED", "Needs", "task_needs"]

# Splits that a task uses where they are, and does without where they are not.
WISHED = {"itacola": ("phenomena",)}


@dataclass(frozen=True)
class Needs:
    """What one task needs.

    Attributes:
        data: Catalogue key to splits.
        scorer: The model that computes its primary metric; None for none, or where scorers are skipped.
        foreign: Whether its data may be other than the catalogue's: a task of the user's own.
    """

    data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scorer: ScorerModel | None = None
    foreign: bool = False


def task_needs(config: Mapping[str, Any] | None) -> Needs:
    """What a task needs.

    Args:
        config: The task's file, as the harness's index holds it.
    """
    card = (config or {}).get("metadata")
    card = card if isinstance(card, Mapping) else {}
    if card.get("suite") == "itapat":
        return Needs()  # its prompts are built from word lists
    named = card.get("dataset")
    keys = [named] if isinstance(named, str) else list(named or [])
    known = set(catalogue.keys())
    listed = [str(split) for split in (card.get("splits") or {}).values()]
    data = {key: tuple(dict.fromkeys([*listed, *catalogue.entry(key).required])) for key in keys if key in known}
    if "honest" in data:
        data["hurtlex"] = tuple(catalogue.entry("hurtlex").required)
    scorer = None if scorers_skipped() else SCORERS.get(str(card.get("primary_metric")))
    return Needs(data, scorer, foreign=not keys or not known.issuperset(keys))
