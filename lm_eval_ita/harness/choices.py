"""ItaEval tasks that choose: from log-likelihoods to metrics.

Each `*_results` function is the `process_results` of a family of tasks: for one document, what each metric needs. The
aggregations get these values in lists; accuracies use lm_eval's own mean, whose standard error is right for them. Every
task reports `score`: its primary metric, turned so that higher is better.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_ita.harness.breakdown import Breakdown
from lm_eval_ita.metrics import classification, multiple_choice

Doc = Mapping[str, Any]
LogLikelihoods = Sequence[tuple[float, bool]]
# gold position, chosen position (None where nothing could be ranked), number of choices
Choice = tuple[int, int | None, int]


# --- Classification: the label names are the choices -----------------------------------------------------------------


def classification_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """Tasks with a fixed list of labels, scored by macro F1."""
    return classified(_choice(doc, results))


def itacola_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """ItaCoLA, scored by MCC, also per linguistic phenomenon where the phenomenon file is there."""
    return classified_itacola(doc, _choice(doc, results))


def hatecheck_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """HateCheck, with accuracy per functionality and per target group."""
    return classified_hatecheck(doc, _choice(doc, results))


def classified(choice: Choice) -> dict[str, Any]:
    """What the metrics of a task with a fixed list of labels need of one document, however the choice was made."""
    return {
        "f1_macro": choice,
        "acc": float(choice[0] == choice[1]),
        "score": choice,
        "baselines": choice,
    }


def classified_itacola(doc: Doc, choice: Choice) -> dict[str, Any]:
    """The same for ItaCoLA."""
    return {
        "mcc": choice,
        "mcc_undefined": choice,
        **classified(choice),
        "phenomena": [list(doc["phenomena"]), choice],
    }


def classified_hatecheck(doc: Doc, choice: Choice) -> dict[str, Any]:
    """The same for HateCheck."""
    values = classified(choice)
    return {
        **values,
        "functionality": [doc["functionality"], values["acc"]],
        "target_group": [doc["target_ident"], values["acc"]],
    }


def f1_macro(items: Sequence[Choice]) -> float:
    """Macro F1 over the task's fixed list of labels; NaN for no documents."""
    if not items:
        return math.nan
    golds, preds, labels = _columns(items)
    return classification.f1_macro(golds, preds, labels)


def mcc(items: Sequence[Choice]) -> float:
    """Matthews correlation coefficient; 0 where one side is constant (`mcc_undefined` tells), NaN for no documents."""
    if not items:
        return math.nan
    golds, preds, labels = _columns(items)
    return classification.mcc(golds, preds, labels).value


def mcc_undefined(items: Sequence[Choice]) -> int:
    """1 where MCC has no value, because gold labels or answers are all the same or there are none; else 0."""
    if not items:
        return 1
    golds, preds, labels = _columns(items)
    return int(classification.mcc(golds, preds, labels).undefined)


def class_baselines(items: Sequence[Choice]) -> dict[str, Breakdown]:
    """What guessing and always giving the commonest label would score on these documents; empty for none."""
    if not items:
        return {}
    golds, _, labels = _columns(items)
    found = classification.baselines(golds, labels)
    return {
        name: Breakdown({"acc": b.acc, "f1_macro": b.f1_macro, "mcc": b.mcc}, f"{b.f1_macro:.2f}")
        for name, b in (("chance", found.chance), ("majority", found.majority))
    }


def accuracy_by_name(items: Sequence[tuple[str, float]]) -> dict[str, Breakdown]:
    """Accuracy for each name; one short cell in the table."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, right in items:
        groups[name or "none"].append(right)
    parts = {name: {"acc": sum(rights) / len(rights), "n": len(rights)} for name, rights in sorted(groups.items())}
    worst = min((part["acc"] for part in parts.values()), default=math.nan)
    return {"by_name": Breakdown(parts, f"{len(parts)} groups, worst {worst:.2f}")}


def mcc_by_phenomenon(items: Sequence[tuple[Sequence[str], Choice]]) -> dict[str, Breakdown]:
    """MCC for each linguistic phenomenon of ItaCoLA; empty where the phenomenon file is not there."""
    groups: dict[str, list[Choice]] = defaultdict(list)
    for names, choice in items:
        for name in names:
            groups[name].append(choice)
    parts = {name: {"mcc": mcc(group), "n": len(group)} for name, group in sorted(groups.items())}
    return {"by_name": Breakdown(parts, f"{len(parts)} phenomena")}


# --- Multiple choice: the choices are texts --------------------------------------------------------------------------


def multiple_choice_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """Tasks scored by accuracy per character (acc_norm)."""
    options, lls = _options(doc, len(results)), [ll for ll, _ in results]
    normalised = multiple_choice.acc_norm(lls, options, doc["label"])
    return {
        "acc_norm": _wrong_if_missing(normalised),
        "acc": _wrong_if_missing(multiple_choice.acc(lls, doc["label"])),
        "score": _wrong_if_missing(normalised),
        "invalid": float(math.isnan(normalised)),
        "baselines": [doc["label"], len(options)],
    }


def xcopa_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """XCOPA, scored by plain accuracy."""
    values = multiple_choice_results(doc, results)
    return {**values, "score": values["acc"]}


def truthfulqa_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """TruthfulQA: MC2 on its own answers, MC1 on its own."""
    lls = [ll for ll, _ in results]
    second = multiple_choice.mc2(lls[: len(doc["mc2_labels"])], doc["mc2_labels"])
    first = multiple_choice.mc1([lls[position] for position in doc["mc1_positions"]], doc["mc1_labels"])
    share = sum(doc["mc2_labels"]) / len(doc["mc2_labels"])
    return {
        "mc2": second,
        "mc1": first,
        "score": second,
        "invalid": float(math.isnan(second)),
        "baselines": [share, 1 / len(doc["mc1_labels"])],
    }


def position_baselines(items: Sequence[tuple[int, int]]) -> dict[str, Breakdown]:
    """What guessing and always choosing the commonest position would score, from (gold, number of choices).

    Empty for no documents.
    """
    if not items:
        return {}
    golds = [gold for gold, _ in items]
    chance = sum(1 / k for _, k in items) / len(items)
    majority = max(golds.count(gold) for gold in set(golds)) / len(golds)
    return {
        "chance": Breakdown({"acc": chance}, f"{chance:.2f}"),
        "majority": Breakdown({"acc": majority}, f"{majority:.2f}"),
    }


def truthfulqa_baselines(items: Sequence[tuple[float, float]]) -> dict[str, Breakdown]:
    """What equal probability for every answer would score; empty for no documents."""
    if not items:
        return {}
    second, first = (sum(column) / len(items) for column in zip(*items, strict=True))
    return {"chance": Breakdown({"mc2": second, "mc1": first}, f"{second:.2f}")}


def mean_defined(values: Sequence[float]) -> float:
    """The mean of the values there are; NaN for none. `invalid` tells how many documents had none."""
    return multiple_choice.mean_defined(values).value


# --- Small things ----------------------------------------------------------------------------------------------------


def _choice(doc: Doc, results: LogLikelihoods) -> Choice:
    lls = [ll for ll, _ in results]
    return int(doc["label"]), multiple_choice.best(lls), len(lls)


def _columns(items: Sequence[Choice]) -> tuple[list[int], list[int | None], list[int]]:
    return [gold for gold, _, _ in items], [pred for _, pred, _ in items], list(range(items[0][2]))


def _options(doc: Doc, count: int) -> list[str]:
    return list(doc["options"]) if "options" in doc else [chr(ord("A") + i) for i in range(count)]


def _wrong_if_missing(value: float) -> float:
    """A question whose choices cannot be ranked is answered wrongly; `invalid` counts it."""
    return 0.0 if math.isnan(value) else value
