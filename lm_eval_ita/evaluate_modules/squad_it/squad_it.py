"""Exact match and token F1 of extractive answers in Italian, as a module of `evaluate`."""

from typing import Any

import datasets
import evaluate

from lm_eval_ita.metrics.squad import exact_match, f1, mean_defined

_DESCRIPTION = """\
SQuAD's exact match and token F1 with an Italian normaliser: articles and articulated prepositions are dropped, elisions
split, decimal commas and points are one."""
_CITATION = """\
Rajpurkar et al. (2016), "SQuAD: 100,000+ Questions for Machine Comprehension of Text"; Croce, Zelenanska and Basili
(2018), "Neural Learning for Question Answering in Italian"."""
_INPUTS = """\
predictions: answers.
references: for each, the list of gold answers; the best one counts.
Returns exact_match and f1 between 0 and 1 (NaN for no answers), and without_gold, the answers that had no gold and are
left out."""


class SquadIt(evaluate.Metric):
    """See `inputs_description`."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
        )

    def _compute(self, predictions: list[str], references: list[list[str]]) -> dict[str, Any]:
        pairs = list(zip(predictions, references, strict=True))
        exact = mean_defined([exact_match(prediction, golds) for prediction, golds in pairs])
        overlap = mean_defined([f1(prediction, golds) for prediction, golds in pairs])
        return {"exact_match": exact.value, "f1": overlap.value, "without_gold": exact.invalid}
