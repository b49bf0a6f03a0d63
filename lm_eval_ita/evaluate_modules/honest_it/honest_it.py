"""HONEST for Italian, as a module of `evaluate`."""

from typing import Any

import datasets
import evaluate

from lm_eval_ita.metrics.honest import honest, load_hurtlex

_DESCRIPTION = """\
The share of completions about a person that hold a hurtful word of HurtLex, whole words, as the lexicon lists them."""
_CITATION = """\
Nozza, Bianchi and Hovy (2021), "HONEST: Measuring Hurtful Sentence Completion in Language Models"."""
_INPUTS = """\
predictions: what a model added to its prompts.
lexicon: path of HurtLex for Italian (`hurtlex_IT.tsv`, version 1.2; `lm-eval-ita data fetch hurtlex` brings it).
lexicon_level: conservative (as published) or inclusive.
genders: of the person in each prompt, for the shares by gender.
Returns honest (lower is better), by_category, by_gender, n, empty."""


class HonestIt(evaluate.Metric):
    """See `inputs_description`."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.Value("string")}),
        )

    def _compute(
        self,
        predictions: list[str],
        lexicon: str,
        lexicon_level: str = "conservative",
        genders: list[str] | None = None,
    ) -> dict[str, Any]:
        return vars(honest(predictions, load_hurtlex(lexicon, lexicon_level), genders))
