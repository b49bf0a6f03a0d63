"""Cards: what a reader of a score must know, at one with the task and the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.authoring.source import Source
from lm_eval_ita.catalogue import Entry
from lm_eval_ita.harness.task_files import Card, TaskCard

__all__ = ["CARD_DATA", "OWN_LOADER", "RULES", "check"]

CARD = Rule("card", "Every task has a card (`metadata`) with all its fields.")
CARD_METRIC = Rule("card-metric", "The card's primary metric is one that the task reports.")
CARD_CHANCE = Rule("card-chance", "The card's range is a range, and its chance lies in it.")
CARD_DATA = Rule("card-data", "The card's data set and splits are in the catalogue.")
CARD_ORIGIN = Rule("card-origin", "The card's origin (native, translated, ...) is the catalogue's.")
RULES = (CARD, CARD_METRIC, CARD_CHANCE, CARD_DATA, CARD_ORIGIN)

_SUITES = frozenset(get_args(TaskCard.model_fields["suite"].annotation))
# Loaders that look in the catalogue.
OWN_LOADER = "lm_eval_ita.harness.own.load"
_LOADERS = ("lm_eval_ita.harness.itaeval.load", OWN_LOADER)


def check(source: Source, catalogue: Mapping[str, Entry], acceptable: frozenset[str]) -> Iterator[Finding]:
    """Findings about a task's card.

    Args:
        source: The task.
        catalogue: The data sets that its loader may name.
        acceptable: The rules that a card may accept to break.
    """
    if source.config.get("metadata") is None:
        fields = ", ".join(name for name, field in Card.model_fields.items() if field.is_required())
        yield source.finding(CARD, (), "the task has no card", f"write metadata: with {fields}")
        return
    card = source.metadata
    model = TaskCard if card.get("suite") in _SUITES else Card
    try:
        checked = model.model_validate(card)
    except ValidationError as error:
        for problem in error.errors():
            where = ("metadata", *(part for part in problem["loc"] if part in card))
            field = ".".join(str(part) for part in problem["loc"])
            yield source.finding(CARD, where, f"{field}: {problem['msg'].lower()}", f"correct {field} in the card")
        return
    for name in checked.accepts.keys() - acceptable:
        mend = did_you_mean(name, acceptable, f"these can be accepted: {', '.join(sorted(acceptable))}")
        yield source.finding(
            CARD, ("metadata", "accepts", name), f"the rule {name!r} is not one that a task may break", mend
        )
    yield from _figures(source, checked)
    if source.function("custom_dataset") and source.functions["custom_dataset",].text in _LOADERS:
        yield from _data(source, checked, catalogue)


def _figures(source: Source, card: Card) -> Iterator[Finding]:
    low, high = card.range
    if not low < high:
        mend = "write the smallest value first"
        yield source.finding(CARD_CHANCE, ("metadata", "range"), f"the range is {low:g} to {high:g}", mend)
    elif card.chance is not None and not low <= card.chance <= high:
        mend = "correct one of the two"
        yield source.finding(
            CARD_CHANCE,
            ("metadata", "chance"),
            f"chance is {card.chance:g}, outside the range {low:g} to {high:g}",
            mend,
        )
    metrics = [str(entry.get("metric")) for _, entry in source.entries("metric_list")]
    if metrics and card.primary_metric not in metrics:
        what = f"the primary metric {card.primary_metric} is not in metric_list"
        mend = did_you_mean(card.primary_metric, metrics, f"name one of {', '.join(metrics)}")
        yield source.finding(CARD_METRIC, ("metadata", "primary_metric"), what, mend)


def _data(source: Source, card: Card, catalogue: Mapping[str, Entry]) -> Iterator[Finding]:
    named: Any = source.metadata.get("splits") or {}
    for key in [card.dataset] if isinstance(card.dataset, str) else card.dataset:
        entry = catalogue.get(key)
        if entry is None:
            mend = did_you_mean(key, catalogue, "add it to catalogue.yaml beside the task file")
            yield source.finding(CARD_DATA, ("metadata", "dataset"), f"the catalogue has no data set {key!r}", mend)
            continue
        if entry.origin != card.origin:
            what = f"the origin is {card.origin}, and the catalogue says {entry.origin}"
            yield source.finding(CARD_ORIGIN, ("metadata", "origin"), what, "correct one of the two")
        for role, split in named.items() if isinstance(named, dict) else ():
            if split not in entry.splits:
                mend = did_you_mean(str(split), entry.splits, f"there are {', '.join(entry.splits)}")
                yield source.finding(
                    CARD_DATA, ("metadata", "splits", str(role)), f"{key} has no split {split!r}", mend
                )
