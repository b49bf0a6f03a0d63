"""Which models the metrics need, and whether they can be had, told without downloading or loading anything.

Environment variables:
    LM_EVAL_ITA_SCORERS: `require` (default) or `skip`: go on without scorer models, their metrics are missing.
    LM_EVAL_ITA_BERTSCORE_MODEL, LM_EVAL_ITA_NEUTRALITY_MODEL: Another Hub id, or a local folder.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from lm_eval_ita.errors import UserError, one_line

__all__ = ["BERTSCORE", "NEUTRALITY", "ScorerModel", "require", "scorer_available", "scorers_skipped"]

_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model", "spiece.model")
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_FALSE = ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class ScorerModel:
    """A model that a metric needs.

    Attributes:
        metric: The metric it serves, as in the results.
        default: Its Hub id.
        variable: Environment variable that names another Hub id or a local folder.
    """

    metric: str
    default: str
    variable: str

    @property
    def name(self) -> str:
        """The Hub id or local folder in force now."""
        return os.environ.get(self.variable, "").strip() or self.default

    @property
    def path(self) -> Path | None:
        """The local folder, when `name` is one or can only be one; None for a Hub id."""
        path = Path(self.name).expanduser()
        looks_local = self.name.startswith((".", "~", "/", "\\")) or self.name.count("/") > 1 or path.is_absolute()
        return path if looks_local or path.is_dir() else None


BERTSCORE = ScorerModel("bertscore", "dbmdz/bert-base-italian-xxl-uncased", "LM_EVAL_ITA_BERTSCORE_MODEL")
NEUTRALITY = ScorerModel("neutral_rate", "RiTA-nlp/umberto-cased-v1-gn-classifier", "LM_EVAL_ITA_NEUTRALITY_MODEL")


def scorers_skipped() -> bool:
    """Tell whether the user wants to go on without scorer models (`LM_EVAL_ITA_SCORERS=skip`)."""
    value = os.environ.get("LM_EVAL_ITA_SCORERS", "").strip().lower() or "require"
    if value not in ("require", "skip"):
        raise UserError(f"LM_EVAL_ITA_SCORERS is {value!r}; it must be 'require' or 'skip'")
    return value == "skip"


def scorer_available(scorer: ScorerModel) -> bool:
    """Tell whether the model can be had (local folder, Hub cache or Hub), without downloading or loading it."""
    return _obstacle(scorer) is None


def require(scorer: ScorerModel) -> bool:
    """Check, when a task is built, that its scorer can be had. Nothing is downloaded or loaded.

    Args:
        scorer: The model.

    Returns:
        True when the scorer may be used; False when the user chose `LM_EVAL_ITA_SCORERS=skip`: the metric is missing
        then, whether or not the model is there.

    Raises:
        UserError: If it cannot be had; the message names the model, the obstacle and the mend.
    """
    if scorers_skipped():
        return False
    obstacle = _obstacle(scorer)
    if obstacle is not None:
        raise UserError(
            f"{scorer.metric} needs the model {scorer.name}: {obstacle}. Or set LM_EVAL_ITA_SCORERS=skip to go on "
            f"without {scorer.metric}"
        )
    return True


def _obstacle(scorer: ScorerModel) -> str | None:
    """Say why the model cannot be had and how to mend it; None when it can."""
    lacking = [package for package in ("torch", "transformers") if not _is_installed(package)]
    if lacking:
        return f"{' and '.join(lacking)} not installed; pip install 'lm-eval-ita[scorers]'"
    if scorer.path is not None:
        lack = _lack_of_folder(scorer.path)
        return lack and f"{lack}; {scorer.variable} must name a folder written by save_pretrained, or a Hub id"
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        if _lack_of_folder(Path(snapshot_download(scorer.name, local_files_only=True))) is None:
            return None
    except (LocalEntryNotFoundError, ValueError):  # not in the cache, or not a valid Hub id
        pass
    mend = f"run `hf download {scorer.name}` where there is a network, or set {scorer.variable} to a local folder"
    if any(os.environ.get(name, "").strip().lower() not in _FALSE for name in _OFFLINE):
        return f"not in the local Hub cache, and the Hub is off (HF_HUB_OFFLINE); {mend}"
    try:
        HfApi().model_info(scorer.name, timeout=10)
    except Exception as error:  # noqa: BLE001 -- no network, no such model, no permission: it cannot be had
        reason = one_line(error) or type(error).__name__
        return f"not in the local Hub cache, and the Hub answers: {reason}; {mend}"
    return None


def _is_installed(package: str) -> bool:
    return package in sys.modules or importlib.util.find_spec(package) is not None


def _lack_of_folder(folder: Path) -> str | None:
    if not folder.is_dir():
        return f"there is no folder {folder}"
    for what, names in (("config.json", ("config.json",)), ("weights", _WEIGHTS), ("tokenizer", _TOKENIZERS)):
        if not any((folder / name).is_file() for name in names):
            return f"{folder} holds no {what}"
    return None
