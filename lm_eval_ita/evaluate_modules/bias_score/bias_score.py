"""ItaP-AT's bias score, as a module of `evaluate`."""

from typing import Any, cast

import datasets
import evaluate

from lm_eval_ita.itapat import Answer, Outcome, parse_answer, score_answers

_DESCRIPTION = """\
How much the answers to an association test follow the stereotype, between -1 and 1, with Fisher's exact test. Answers
are read by ItaP-AT's parser, or given as outcomes: attribute_1, attribute_2, neutral, error."""
_CITATION = "ItaP-AT, Proceedings of the Tenth Italian Conference on Computational Linguistics (CLiC-it 2024)"
_INPUTS = """\
predictions: answers of a model, or outcomes where a reference has no pair.
references: for each, `word` (the target word), `side` (X or Y, its set), `pair` (the lexicon's name of the two
    attributes, see `lm_eval_ita.itapat.load_lexicon().pairs`; "" for predictions that are outcomes).
level, resamples: of the bootstrap over target words; 0.95 and 10,000.
Returns bias_score, low, high, standard_error, p_value, reading, n and the share of each outcome. NaN where there is no
value."""


class BiasScore(evaluate.Metric):
    """See `inputs_description`."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": text, "references": {"word": text, "side": text, "pair": text}}),
        )

    def _compute(
        self, predictions: list[str], references: list[dict[str, Any]], level: float = 0.95, resamples: int = 10_000
    ) -> dict[str, Any]:
        answers = []
        for prediction, reference in zip(predictions, references, strict=True):
            if reference["side"] not in ("X", "Y"):
                raise ValueError(f"side is {reference['side']!r}; it is X or Y")
            given = cast(Outcome, prediction)  # one that is none is refused by `score_answers`
            outcome = parse_answer(prediction, reference["pair"]).outcome if reference["pair"] else given
            answers.append(Answer(reference["word"], reference["side"], outcome))
        score = score_answers(answers, level=level, resamples=resamples)
        names = ("bias_score", "low", "high", "standard_error", "p_value", "reading", "n")
        return {name: getattr(score, name) for name in names} | {
            f"prob_{key}": rate for key, rate in score.rates.items()
        }
