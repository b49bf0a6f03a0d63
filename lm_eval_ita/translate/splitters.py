"""Where sentences begin and end: by stanza, as ItaEval's authors did it, or by rules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from lm_eval_ita.errors import UserError, one_line

__all__ = ["LANGUAGES", "RuleSplitter", "Splitter", "StanzaSplitter", "make_splitter", "stanza_folder"]

LANGUAGES = {"en": "English", "it": "Italian"}
Bounds = list[tuple[int, int]]


class Splitter(Protocol):
    """Something that finds sentences."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What its results depend on."""
        ...

    def bounds(self, texts: Sequence[str]) -> list[Bounds]:
        """Start and end of each sentence of each text, in characters."""
        ...


def stanza_folder(prepared: Path | None = None) -> Path:
    """Where stanza's models are looked for: a prepared folder's, else STANZA_RESOURCES_DIR, else stanza's own."""
    if prepared is not None:
        return prepared / "stanza"
    import stanza.resources.common as common

    return Path(os.environ.get("STANZA_RESOURCES_DIR") or common.DEFAULT_MODEL_DIR)


class StanzaSplitter:
    """stanza's neural tokenizer.

    Args:
        language: "en" or "it".
        folder: Where its models are.

    Raises:
        UserError: stanza or its models are not there.
    """

    def __init__(self, language: str, folder: Path) -> None:
        import stanza

        if not (folder / language / "tokenize").is_dir() or not (folder / "resources.json").is_file():
            raise UserError(
                f"stanza's {LANGUAGES[language]} models are not here: bring them with `lm-eval-ita prepare --stanza "
                f"{language} --to DIR`, and name --from DIR; or split by rules: --splitter rule",
                file=folder,
            )
        try:
            self._pipeline = stanza.Pipeline(
                language,
                dir=str(folder),
                processors="tokenize",
                download_method=None,  # nothing is fetched behind the user's back
                verbose=False,
            )
        # stanza has an exception of its own for each thing that may be wrong with its files, and torch more of them.
        except Exception as error:
            raise UserError(
                f"stanza's {LANGUAGES[language]} models cannot be loaded ({type(error).__name__}: "
                f"{one_line(error)}); bring them anew: lm-eval-ita prepare --stanza {language} --to DIR",
                file=folder,
            ) from error
        self.settings = {"splitter": "stanza", "stanza": version("stanza"), "language": language}

    def bounds(self, texts: Sequence[str]) -> list[Bounds]:
        """As `Splitter.bounds`."""
        import stanza

        documents = self._pipeline.bulk_process([stanza.Document([], text=text) for text in texts])
        return [
            [(sentence.tokens[0].start_char, sentence.tokens[-1].end_char) for sentence in document.sentences]
            for document in documents
        ]


class RuleSplitter:
    """Wikimedia's `sentencex`: rules and lists of abbreviations by language, without a model."""

    def __init__(self, language: str) -> None:
        import sentencex  # noqa: F401  # whether it is there

        self._language = language
        self.settings = {"splitter": "rule", "sentencex": version("sentencex"), "language": language}

    def bounds(self, texts: Sequence[str]) -> list[Bounds]:
        """As `Splitter.bounds`."""
        import sentencex

        found = []
        for text in texts:
            position, bounds = 0, []
            for part in sentencex.segment(self._language, text):
                start = text.find(part, position)  # parts follow each other; a lost character does no harm
                if start >= 0:
                    position = start + len(part)
                    bounds.append((start, position))
            found.append(bounds)
        return found


def make_splitter(kind: str, language: str, prepared: Path | None = None) -> Splitter:
    """The splitter that was asked for.

    Args:
        kind: "stanza" or "rule".
        language: "en" or "it".
        prepared: A folder of `lm-eval-ita prepare`.

    Raises:
        UserError: Its package or its models are not there.
    """
    try:
        return RuleSplitter(language) if kind == "rule" else StanzaSplitter(language, stanza_folder(prepared))
    except ModuleNotFoundError as error:
        raise UserError(
            f"--splitter {kind} needs the package '{error.name}'; install it: pip install 'lm-eval-ita[translate]'"
        ) from error
