"""The words of the interface, in Italian and English, and how each language writes numbers."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

from lm_eval_ita.leaderboard.views import LANGUAGES, Language

__all__ = ["Texts", "preferred_language", "texts"]

_MINUS = "\u2212"
_ENGLISH_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True)
class Texts:
    """One language.

    Attributes:
        language: Which.
        words: By key.
        reasons: Sentences of the data (known defects, why a figure is not comparable, why an upload is refused, and
            its mend) in this language.
        patterns: The same for sentences with figures in them, as regular expressions of the whole sentence.
    """

    language: Language
    words: Mapping[str, str]
    reasons: Mapping[str, str]
    patterns: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        return self.words[key]

    def get(self, key: str, default: str) -> str:
        """A text that may not be there: names of tasks and the like come from data."""
        return self.words.get(key, default)

    def reason(self, sentence: str) -> str:
        """A sentence of the data in this language; as it is where it is not known."""
        if sentence in self.reasons:
            return self.reasons[sentence]
        for pattern, replacement in self.patterns.items():
            if (found := re.fullmatch(pattern, sentence)) is not None:
                said = found.expand(replacement)
                return _ENGLISH_THOUSANDS.sub(".", said) if "[\\d,]" in pattern else said
        return sentence

    def sentence(self, reason: str) -> str:
        """A sentence of the data in this language, as a sentence."""
        said = self.reason(reason)
        return f"{said[:1].upper()}{said[1:]}."

    def number(self, value: float, digits: int = 1) -> str:
        """A number with a typographic minus, and a comma for its decimals in Italian."""
        text = f"{round(value, digits) + 0.0:.{digits}f}".replace("-", _MINUS)
        return text.replace(".", ",") if self.language == "it" else text

    def signed(self, value: float, digits: int = 2) -> str:
        """The same with a plus; zero has no sign."""
        rounded = round(value, digits) + 0.0
        return ("+" if rounded > 0 else "") + self.number(rounded, digits)

    def percent(self, value: float | None) -> str:
        """A score times 100, to one decimal; empty where it is missing."""
        return "" if value is None else self.number(100 * value)

    def count(self, value: float) -> str:
        """A whole number with its thousands apart."""
        return f"{value:,.0f}".replace(",", "." if self.language == "it" else ",")

    def size(self, parameters: int | None) -> str:
        """A number of parameters: "7,2 mld", "350 M"."""
        if parameters is None:
            return ""
        unit, name = (1e9, {"it": "mld", "en": "B"}) if parameters >= 1e9 else (1e6, {"it": "mln", "en": "M"})
        number = parameters / unit
        whole = number >= 100 or round(number, 1) == round(number)
        return f"{self.number(number, 0 if whole else 1)} {name[self.language]}"

    def date(self, moment: datetime | None) -> str:
        """A day; empty where it is missing."""
        if moment is None:
            return ""
        return f"{moment:%d/%m/%Y}" if self.language == "it" else f"{moment:%Y-%m-%d}"

    def share(self, value: float) -> str:
        """A share, 0 to 1, in whole percent."""
        return f"{100 * value:.0f}%"

    def p_value(self, value: float) -> str:
        """A p-value; very small ones are not written out."""
        return f"p < {self.number(0.001, 3)}" if value < 0.001 else f"p = {self.number(value, 3)}"

    def duration(self, seconds: float) -> str:
        """A time in hours and minutes, or in seconds."""
        if seconds < 60:
            return f"{self.number(seconds, 0)} s"
        minutes = round(seconds / 60)
        return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


@functools.cache
def texts(language: Language) -> Texts:
    """The words of a language."""
    import yaml

    from lm_eval_ita._yaml import FastLoader

    def content(name: str) -> dict[str, Any]:
        file = files("lm_eval_ita.leaderboard") / "texts" / f"{name}.yaml"
        loaded: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=FastLoader)  # our own file
        return loaded

    words = {key: " ".join(str(text).split()) for key, text in content(language).items()}
    said = [content("reasons_it"), content("refusals_it")] if language == "it" else []
    sentences, patterns = ({k: v for file in said for k, v in file[kind].items()} for kind in ("sentences", "patterns"))
    return Texts(language, words, sentences, patterns)


def preferred_language(header: str) -> Language:
    """The language of the interface that a browser's Accept-Language header asks for first; English for none."""
    wanted: list[tuple[float, Language]] = []
    for part in header[:500].split(","):
        name, _, quality = part.strip().partition(";")
        weight = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", quality)
        for language in LANGUAGES:
            if name.lower().split("-")[0] == language:
                wanted.append((float(weight[1]) if weight else 1.0, language))
    return max(wanted, key=lambda each: each[0])[1] if wanted else "en"
