"""Bringing stanza's models for `lm-eval-ita translate`: by stanza's own downloader, which checks their sums."""

import os
from pathlib import Path

from lm_eval_ita.catalogue.hub import is_offline
from lm_eval_ita.errors import UserError, one_line

__all__ = ["bring_stanza"]


def bring_stanza(folder: Path, language: str) -> str:
    """Bring what splitting a language into sentences needs.

    Args:
        folder: Where stanza is to keep its models; its list of models stays as it is once it is there.
        language: "en" or "it".

    Returns:
        Where they came from.

    Raises:
        UserError: stanza is not installed, or they cannot be had.
    """
    try:
        import stanza
        from stanza.resources import common
    except ModuleNotFoundError as error:
        mend = "install it: pip install 'lm-eval-ita[translate]'"
        raise UserError(f"--stanza needs the package '{error.name}'; {mend}") from error
    if is_offline():
        raise UserError(
            "stanza's models: the network is switched off by HF_HUB_OFFLINE or its like; unset it to prepare"
        )
    origin = str(os.environ.get("STANZA_RESOURCES_URL", common.DEFAULT_RESOURCES_URL))
    try:
        stanza.download(
            language,
            model_dir=str(folder),
            processors="tokenize",
            resources_url=origin,
            model_url=os.environ.get("STANZA_MODEL_URL", common.DEFAULT_MODEL_URL),
            download_json=not (folder / "resources.json").is_file(),
            verbose=False,
        )
    # Exceptions of requests, of the Hub's client and of stanza's own, by where its models lie.
    except Exception as error:
        raise UserError(
            f"stanza's models for {language!r} cannot be had ({type(error).__name__}: {one_line(error)}); "
            "run again to go on"
        ) from error
    return origin
