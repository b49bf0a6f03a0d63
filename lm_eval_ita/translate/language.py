"""Which language a text is in, among those that occur in these data sets. Offline, by `py3langid`."""

from __future__ import annotations

import functools
from typing import Any

from lm_eval_ita.errors import UserError

__all__ = ["other_language"]

_LANGUAGES = ["it", "en", "es", "fr", "de", "pt"]
# Below these a text says little: names, numbers and single words have no language.
_LETTERS, _WORDS = 20, 4
# Of 3,200 Italian sentences of UD PUD, ParTUT, Tatoeba and the OLDI seed data, none is above it.
_SURE = 0.9


def other_language(text: str) -> str | None:
    """The code of the language of a text that is surely not Italian; None where it is, or where it cannot be told.

    Raises:
        UserError: `py3langid` is not installed.
    """
    if sum(character.isalpha() for character in text) < _LETTERS or len(text.split()) < _WORDS:
        return None
    language, probability = _identifier().classify(text)
    return str(language) if language != "it" and probability > _SURE else None


@functools.cache
def _identifier() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ModuleNotFoundError as error:
        mend = "install it: pip install 'lm-eval-ita[translate]'"
        raise UserError(f"telling languages apart needs the package 'py3langid'; {mend}") from error
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LANGUAGES)
    return identifier
