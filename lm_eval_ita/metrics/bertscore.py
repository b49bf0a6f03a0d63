"""BERTScore of Italian texts: greedy matching of contextual token embeddings.

Source: Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT". Encoder, layer and rescaling baseline
are those of the ItaEval reference; no idf weighting. The matching follows the `bert-score` library, which is the
reference in the tests; its own driver fails under transformers 5 on an empty text and on a tokenizer that declares no
length limit.

Environment variables, beside those of `scorers` and `_scorer_runtime`:
    LM_EVAL_ITA_BERTSCORE_MODEL: Another encoder, by Hub id or local folder. Rescaling is off then.
    LM_EVAL_ITA_BERTSCORE_LAYER: Its layer; by default 10, or the last one of a smaller encoder.
    LM_EVAL_ITA_BERTSCORE_BASELINE: "P,R,F" of that encoder and layer (see `estimate_baseline`): rescaling is on again.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics._checks import check_same_length, reject_str
from lm_eval_ita.metrics._greedy_matching import load_encoder, ordinary_tokens, score_pairs, self_test
from lm_eval_ita.metrics._scorer_runtime import Runtime, runtime_for
from lm_eval_ita.metrics._scorer_runtime import release as _release
from lm_eval_ita.metrics.scorers import BERTSCORE
from lm_eval_ita.metrics.text import is_empty, nfc

__all__ = [
    "PUBLISHED",
    "Baseline",
    "BertScore",
    "BertScoreConfig",
    "bertscore",
    "config_from_env",
    "estimate_baseline",
    "release",
]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Baseline:
    """Mean scores of unrelated texts: rescaling maps them to 0 and leaves 1 at 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class BertScoreConfig:
    """How texts are scored.

    Attributes:
        encoder: Hub id or local folder.
        layer: Hidden layer whose embeddings are compared, counted from 1; 0 is the embedding layer. None: 10, or the
            last layer of a smaller encoder.
        baseline: None turns rescaling off.
    """

    encoder: str
    layer: int | None
    baseline: Baseline | None


PUBLISHED = BertScoreConfig(BERTSCORE.default, 10, Baseline(0.4082575, 0.40829876, 0.40613624))
"""The configuration of the ItaEval reference."""


@dataclass(frozen=True)
class BertScore:
    """Scores of n pairs and what they were computed with.

    Attributes:
        precision: Raw precision, shape (n,), at most 1; 0 where prediction or reference is empty.
        recall: Raw recall, likewise.
        f1: Raw F1, likewise.
        rescaled_f1: F1 rescaled with the baseline, shape (n,), at most 1 and below 0 for texts less alike than
            unrelated ones; 0 where prediction or reference is empty. None when rescaling is off.
        empty_predictions: Predictions without a token.
        empty_references: References without a token.
        clipped_predictions: Predictions cut to the encoder's positions.
        clipped_references: References cut likewise.
        encoder: Hub id or folder of the encoder; empty string if nothing had to be encoded.
        layer: The layer used; None if nothing had to be encoded.
        baseline: The baseline used, None when rescaling is off.
        max_tokens: Position limit of the encoder, special tokens included; None if nothing had to be encoded.
        device: Where the scores were computed.
        dtype: Floating-point type of the encoder.
    """

    precision: _Floats
    recall: _Floats
    f1: _Floats
    rescaled_f1: _Floats | None
    empty_predictions: int
    empty_references: int
    clipped_predictions: int
    clipped_references: int
    encoder: str
    layer: int | None
    baseline: Baseline | None
    max_tokens: int | None
    device: str
    dtype: str

    @property
    def mean_f1(self) -> float:
        """Mean raw F1; NaN without pairs."""
        return float(self.f1.mean()) if len(self.f1) else math.nan

    @property
    def mean_rescaled_f1(self) -> float:
        """Mean rescaled F1; NaN without pairs and when rescaling is off."""
        return float(self.rescaled_f1.mean()) if self.rescaled_f1 is not None and len(self.f1) else math.nan


def config_from_env() -> BertScoreConfig:
    """Return `PUBLISHED`, changed by the environment variables named at the top.

    Raises:
        UserError: If a variable holds no layer or no baseline.
    """
    encoder = BERTSCORE.name
    published = encoder == PUBLISHED.encoder
    layer = PUBLISHED.layer if published else None
    text = os.environ.get("LM_EVAL_ITA_BERTSCORE_LAYER", "").strip()
    if text:
        if not text.isdecimal():
            raise UserError(f"LM_EVAL_ITA_BERTSCORE_LAYER is {text!r}; it must be a layer number such as 10")
        layer = int(text)
    baseline = PUBLISHED.baseline if published and layer == PUBLISHED.layer else None
    text = os.environ.get("LM_EVAL_ITA_BERTSCORE_BASELINE", "").strip()
    if text:
        try:
            baseline = Baseline(*map(float, text.split(",")))
        except (TypeError, ValueError) as error:
            raise UserError(
                f"LM_EVAL_ITA_BERTSCORE_BASELINE is {text!r}; it must be precision,recall,f1 such as 0.41,0.41,0.40"
            ) from error
    return BertScoreConfig(encoder, layer, baseline)


def bertscore(predictions: Sequence[str], references: Sequence[str], *, batch_size: int = 64) -> BertScore:
    """Score each prediction against its reference, with the encoder that the environment names.

    The encoder is loaded on the first call, checked by a self-test and kept until `release`. Equal pairs are scored
    once, each text of a chunk is encoded once, in batches of similar length. Texts are brought to NFC and stripped.

    Args:
        predictions: Model outputs, shape (n,).
        references: Reference texts, shape (n,).
        batch_size: Texts encoded at once.

    Returns:
        Scores, counts and what was used; see `BertScore`.

    Raises:
        UserError: If the encoder cannot be had, fails its self-test or gives values that are not finite.
        ValueError: If lengths differ.
    """
    reject_str(predictions=predictions, references=references)
    n = check_same_length(predictions=predictions, references=references)
    config = config_from_env()
    scores = np.zeros((n, 3))
    texts = [nfc(text).strip() for text in [*predictions, *references]]
    if all(is_empty(text) for text in texts):
        return _result(scores, config.baseline, np.ones(2 * n, dtype=bool), np.zeros(2 * n, dtype=bool), None)
    runtime = runtime_for(
        BERTSCORE, config.layer, load=lambda source: load_encoder(source, config.layer), check=self_test
    )
    unique = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    encoded = runtime.encode(list(unique))
    blank = [
        is_empty(text) or not any(ordinary_tokens(runtime, ids)) for text, ids in zip(unique, encoded.ids, strict=True)
    ]
    which = np.array([unique[text] for text in texts], dtype=np.int64)
    pairs = which.reshape(2, n).T
    scored = ~np.asarray(blank)[pairs].any(axis=1)
    if scored.any():
        distinct, inverse = np.unique(pairs[scored], axis=0, return_inverse=True)
        scores[scored] = score_pairs(runtime, encoded.ids, distinct, batch_size)[inverse.reshape(-1)]
    if not np.isfinite(scores).all():
        raise UserError(f"{config.encoder} gives values that are not finite; set LM_EVAL_ITA_SCORER_DTYPE=float32")
    return _result(scores, config.baseline, np.asarray(blank)[which], np.asarray(encoded.clipped)[which], runtime)


def estimate_baseline(sentences: Sequence[str], *, pairs: int = 100_000, seed: int = 0) -> Baseline:
    """Estimate the rescaling baseline of the encoder in force: the mean scores of sentences paired at random.

    Args:
        sentences: Unrelated Italian sentences, at least two; the published baselines use Common Crawl.
        pairs: Pairs to draw; two different positions each.
        seed: Seed of the draw.

    Returns:
        The baseline, for `LM_EVAL_ITA_BERTSCORE_BASELINE`.
    """
    reject_str(sentences=sentences)
    if len(sentences) < 2:
        raise ValueError("a baseline needs at least two sentences")
    draw = random.Random(seed)
    drawn = [draw.sample(range(len(sentences)), 2) for _ in range(pairs)]
    result = bertscore([sentences[first] for first, _ in drawn], [sentences[second] for _, second in drawn])
    return Baseline(float(result.precision.mean()), float(result.recall.mean()), result.mean_f1)


def release() -> None:
    """Free the encoder's memory; the next score loads it again."""
    _release(BERTSCORE)


def _result(
    scores: _Floats,
    baseline: Baseline | None,
    blank: npt.NDArray[np.bool_],
    clipped: npt.NDArray[np.bool_],
    runtime: Runtime | None,
) -> BertScore:
    n = len(scores)
    empty = blank[:n] | blank[n:]
    rescaled = None
    if baseline is not None:
        rescaled = np.where(empty, 0.0, (scores[:, 2] - baseline.f1) / (1.0 - baseline.f1))
    return BertScore(
        precision=scores[:, 0],
        recall=scores[:, 1],
        f1=scores[:, 2],
        rescaled_f1=rescaled,
        empty_predictions=int(blank[:n].sum()),
        empty_references=int(blank[n:].sum()),
        clipped_predictions=int(clipped[:n].sum()),
        clipped_references=int(clipped[n:].sum()),
        encoder=BERTSCORE.name if runtime else "",
        layer=int(runtime.model.config.num_hidden_layers) if runtime else None,
        baseline=baseline,
        max_tokens=runtime.limit if runtime else None,
        device=runtime.device if runtime else "",
        dtype=runtime.dtype if runtime else "",
    )
