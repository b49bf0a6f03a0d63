"""The attribute lexicon: which Italian words count as choosing which attribute (`data/lexicon.yaml`)."""

import functools
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita._yaml import find_line, read_mapping
from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat._data import DATA
from lm_eval_ita.itapat._tokens import fold_accents, tokenize

__all__ = ["BUILTIN_LEXICON", "Lexicon", "PhraseSet", "load_lexicon", "read_pair"]

BUILTIN_LEXICON = DATA / "lexicon.yaml"
_LISTS = ("neutral", "refusal", "neither", "also_english", "english", "prompt_markers")


class PhraseSet:
    """A set of phrases that can be looked for in a token sequence, longest first.

    Args:
        phrases: Phrases of one or more words.
        accents: Whether "né" and "ne" differ. Attribute forms are matched without accents, since models leave
            them out ("affidabilita'"); function words with them, since "è" is not "e".
    """

    def __init__(self, phrases: Iterable[str], *, accents: bool = True) -> None:
        self._accents = accents
        self._phrases = frozenset(self._key(tokenize(phrase)) for phrase in phrases)
        self._longest = max((len(phrase) for phrase in self._phrases), default=0)

    def _key(self, tokens: Iterable[str]) -> tuple[str, ...]:
        return tuple(tokens) if self._accents else tuple(fold_accents(token) for token in tokens)

    def __contains__(self, phrase: str) -> bool:
        return self._key(tokenize(phrase)) in self._phrases

    def length_at(self, tokens: tuple[str, ...], start: int) -> int:
        """Length in tokens of the longest phrase that begins at `start`; 0 when none does."""
        for length in range(min(self._longest, len(tokens) - start), 0, -1):
            if self._key(tokens[start : start + length]) in self._phrases:
                return length
        return 0

    def length_before(self, tokens: tuple[str, ...], end: int) -> int:
        """Length in tokens of the longest phrase that ends just before `end`; 0 when none does."""
        for length in range(min(self._longest, end), 0, -1):
            if self._key(tokens[end - length : end]) in self._phrases:
                return length
        return 0


@dataclass(frozen=True)
class Lexicon:
    """What the answer parser needs to know about words.

    Attributes:
        pairs: Pair name to the accepted forms of (attribute_1, attribute_2).
        neutral, refusal, neither, also_english, english, prompt_markers: As `data/lexicon.yaml` explains them.
        negations: Phrases that turn the attribute after them into the other one.
        affirmations: Phrases that hold a negation and are none ("un poco").
        bridges: Words that may stand between a negation and the attribute.
        longest_bridge: At most so many of them.
    """

    pairs: Mapping[str, tuple[PhraseSet, PhraseSet]]
    neutral: PhraseSet
    refusal: PhraseSet
    neither: PhraseSet
    also_english: PhraseSet
    english: PhraseSet
    prompt_markers: PhraseSet
    negations: PhraseSet
    affirmations: PhraseSet
    bridges: PhraseSet
    longest_bridge: int


@functools.lru_cache(maxsize=8)
def load_lexicon(path: Path = BUILTIN_LEXICON) -> Lexicon:
    """Read and check the attribute lexicon.

    Raises:
        UserError: A section is missing, a form is not text, or a form stands for both attributes of a pair.
    """
    content = read_mapping(path)
    lists = {name: _phrases(content.get(name), name, path) for name in _LISTS}
    negation = content.get("negation")
    if not isinstance(negation, dict) or not isinstance(negation.get("longest_bridge"), int):
        raise UserError(
            "'negation' needs the fields words, affirmations, bridges and longest_bridge (a number)", file=path
        )
    pairs = content.get("pairs")
    if not isinstance(pairs, dict) or not pairs:
        raise UserError("needs a field 'pairs' with at least one pair of attributes", file=path)
    return Lexicon(
        pairs={name: read_pair(name, entry, path) for name, entry in pairs.items()},
        negations=PhraseSet(_phrases(negation.get("words"), "negation.words", path)),
        affirmations=PhraseSet(_phrases(negation.get("affirmations"), "negation.affirmations", path)),
        bridges=PhraseSet(_phrases(negation.get("bridges"), "negation.bridges", path)),
        longest_bridge=negation["longest_bridge"],
        also_english=PhraseSet(lists.pop("also_english"), accents=False),
        **{name: PhraseSet(phrases) for name, phrases in lists.items()},
    )


def _phrases(value: Any, name: str, path: Path) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and tokenize(item) for item in value):
        raise UserError(f"'{name}' must be a list of words (quote those that YAML reads as something else)", file=path)
    return value


def read_pair(name: str, entry: Any, path: Path) -> tuple[PhraseSet, PhraseSet]:
    """Check one pair of attributes of a file.

    Raises:
        UserError: A side is missing, a form is not text, or it stands for both attributes.
    """
    if not isinstance(entry, dict) or set(entry) != {"attribute_1", "attribute_2"}:
        raise UserError(
            f"pair '{name}' needs exactly the fields attribute_1 and attribute_2",
            file=path,
            line=find_line(path, f"{name}:"),
        )
    first = _phrases(entry["attribute_1"], f"pairs.{name}.attribute_1", path)
    second = _phrases(entry["attribute_2"], f"pairs.{name}.attribute_2", path)
    keys = {fold_accents(unicodedata.normalize("NFC", form).casefold()) for form in first}
    for form in second:
        if fold_accents(unicodedata.normalize("NFC", form).casefold()) in keys:
            raise UserError(
                f"pair '{name}': the form '{form}' stands for both attributes; keep it in one",
                file=path,
                line=find_line(path, f"{name}:", form),
            )
    return PhraseSet(first, accents=False), PhraseSet(second, accents=False)
