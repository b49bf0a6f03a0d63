"""Gender-neutrality of rewritten sentences (GeNTE): the share that a classifier calls neutral.

Source: Piergentili et al. (2023), "Hi Guys or Hi Folks? Benchmarking Gender-Neutral Machine Translation with the GeNTE
Corpus"; the classifier is an UmBERTo fine-tuned to tell gendered from neutral sentences.

The classifier looks at the rewriting alone: a neutral sentence about something else passes. Report chrF and the shares
of copied and empty rewritings beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics._checks import reject_str
from lm_eval_ita.metrics._scorer_runtime import Runtime, length_batches, runtime_for
from lm_eval_ita.metrics._scorer_runtime import release as _release
from lm_eval_ita.metrics.scorers import NEUTRALITY
from lm_eval_ita.metrics.text import is_empty, nfc

__all__ = ["NEUTRAL_LABEL", "Neutrality", "neutrality", "release"]

NEUTRAL_LABEL = "neutral"


@dataclass(frozen=True)
class Neutrality:
    """Verdicts on n texts and what gave them.

    Attributes:
        neutral: Whether each text is called neutral, shape (n,); False for an empty text, which says nothing.
        probability: Probability of the neutral label, shape (n,), in [0, 1]; 0 for an empty text.
        empty: Empty texts.
        clipped: Texts cut to the classifier's positions.
        classifier: Hub id or folder; empty string if nothing had to be classified.
        device: Where the verdicts were computed.
        dtype: Floating-point type of the classifier.
    """

    neutral: npt.NDArray[np.bool_]
    probability: npt.NDArray[np.float64]
    empty: int
    clipped: int
    classifier: str
    device: str
    dtype: str

    @property
    def rate(self) -> float:
        """Share of texts called neutral, in [0, 1]; NaN without texts."""
        return float(self.neutral.mean()) if len(self.neutral) else math.nan


def neutrality(texts: Sequence[str], *, batch_size: int = 64) -> Neutrality:
    """Classify texts with the classifier that the environment names.

    It is loaded on the first call and kept until `release`. Equal texts are classified once, in batches of similar
    length. Texts are brought to NFC and stripped.

    Args:
        texts: Rewritten sentences, shape (n,).
        batch_size: Texts classified at once.

    Returns:
        Verdicts and counts; see `Neutrality`.

    Raises:
        UserError: If the classifier cannot be had, has no label `neutral` or gives values that are not finite.
    """
    reject_str(texts=texts)
    stripped = [nfc(text).strip() for text in texts]
    distinct = [text for text in dict.fromkeys(stripped) if not is_empty(text)]
    verdicts: dict[str, tuple[bool, float]] = {}
    clipped: set[str] = set()
    runtime = None
    if distinct:
        runtime = runtime_for(NEUTRALITY, None, load=_load, check=_check_label)
        encoded = runtime.encode(distinct)
        clipped = {text for text, cut in zip(distinct, encoded.clipped, strict=True) if cut}
        verdicts = dict(zip(distinct, _classify(runtime, encoded.ids, batch_size), strict=True))
    rows = [verdicts.get(text, (False, 0.0)) for text in stripped]
    return Neutrality(
        neutral=np.array([neutral for neutral, _ in rows], dtype=bool),
        probability=np.array([probability for _, probability in rows], dtype=np.float64),
        empty=sum(map(is_empty, stripped)),
        clipped=sum(text in clipped for text in stripped),
        classifier=NEUTRALITY.name if runtime else "",
        device=runtime.device if runtime else "",
        dtype=runtime.dtype if runtime else "",
    )


def release() -> None:
    """Free the classifier's memory; the next call loads it again."""
    _release(NEUTRALITY)


def _load(source: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, info = AutoModelForSequenceClassification.from_pretrained(source, output_loading_info=True)
    if info["missing_keys"]:
        missing = sorted(info["missing_keys"])
        raise UserError(f"the weights of {source} are not a classifier's: they lack {', '.join(missing[:3])}")
    return model, AutoTokenizer.from_pretrained(source)


def _check_label(runtime: Runtime) -> None:
    _neutral_position(runtime)


def _neutral_position(runtime: Runtime) -> int:
    labels: dict[int, str] = runtime.model.config.id2label
    for position, label in labels.items():
        if label.casefold() == NEUTRAL_LABEL:
            return int(position)
    raise UserError(f"{NEUTRALITY.name} has no label {NEUTRAL_LABEL!r}; its labels are {', '.join(labels.values())}")


def _classify(runtime: Runtime, ids: Sequence[Sequence[int]], batch_size: int) -> list[tuple[bool, float]]:
    """Return, for each text, whether neutral is the likeliest label, and its probability."""
    import torch

    position = _neutral_position(runtime)
    verdicts: list[tuple[bool, float]] = [(False, 0.0)] * len(ids)
    for batch in length_batches([len(row) for row in ids], batch_size):

        def step(chosen: Sequence[int] = batch) -> npt.NDArray[np.float64]:
            tokens, mask = runtime.batch([ids[row] for row in chosen])
            with torch.inference_mode():
                logits = runtime.model(input_ids=tokens, attention_mask=mask).logits
            return logits.double().softmax(dim=-1).cpu().numpy()  # type: ignore[no-any-return]

        probabilities = runtime.on_device(step)
        if not np.isfinite(probabilities).all():
            raise UserError(f"{NEUTRALITY.name} gives values that are not finite; set LM_EVAL_ITA_SCORER_DTYPE=float32")
        for row, values in zip(batch, probabilities, strict=True):
            verdicts[row] = (int(values.argmax()) == position, float(values[position]))
    return verdicts
