"""The share of gender-neutral rewritings (GeNTE), as a module of `evaluate`."""

from typing import Any

import datasets
import evaluate

from lm_eval_ita.metrics.neutrality import neutrality

_DESCRIPTION = """\
The share of texts that GeNTE's classifier calls gender-neutral. It looks at the rewriting alone: a neutral sentence
about something else passes."""
_CITATION = """\
Piergentili et al. (2023), "Hi Guys or Hi Folks? Benchmarking Gender-Neutral Machine Translation with the GeNTE
Corpus"."""
_INPUTS = """\
predictions: rewritings.
batch_size: texts at once.
Returns neutral_rate between 0 and 1 (NaN for no texts), probabilities, n, empty, clipped, classifier. Where the
classifier is comes from the environment: docs/itaeval.md, "Scorer models"."""


class NeutralRate(evaluate.Metric):
    """See `inputs_description`."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.Value("string")}),
        )

    def _compute(self, predictions: list[str], batch_size: int = 64) -> dict[str, Any]:
        found = neutrality(predictions, batch_size=batch_size)
        return {
            "neutral_rate": found.rate,
            "probabilities": found.probability.tolist(),
            "n": len(predictions),
            "empty": found.empty,
            "clipped": found.clipped,
            "classifier": found.classifier,
        }
