"""Macro F1 over a fixed list of labels, as a module of `evaluate`."""

from typing import Any

import datasets
import evaluate

from lm_eval_ita.metrics.classification import baselines, f1_macro, unparsable_rate

_DESCRIPTION = """\
The mean F1 of a task's labels. A prediction outside the list is wrong and counted; it is no label of its own."""
_INPUTS = """\
predictions, references: labels as texts.
labels: all labels of the task; those of the references if not given.
Returns f1_macro, invalid (the share of predictions outside the list), chance and majority (the macro F1 of guessing,
and of always the commonest label); all between 0 and 1, NaN for no predictions."""


class F1MacroIt(evaluate.Metric):
    """See `inputs_description`."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _compute(
        self, predictions: list[str], references: list[str], labels: list[str] | None = None
    ) -> dict[str, Any]:
        listed = sorted(set(references)) if labels is None else labels
        guessed = baselines(references, listed)
        return {
            "f1_macro": f1_macro(references, predictions, listed),
            "invalid": unparsable_rate(predictions, listed),
            "chance": guessed.chance.f1_macro,
            "majority": guessed.majority.f1_macro,
        }
