"""How a model is asked for a translation.

TowerInstruct's prompt is that of its model card (https://huggingface.co/Unbabel/TowerInstruct-7B-v0.1): one user
message through its chat template, no system message, greedy, 256 new tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lm_eval_ita.errors import UserError

__all__ = ["PROMPTS", "Codes", "Prompt", "chosen_prompt", "few_shot", "language_codes", "message"]

Prompt = Literal["tower", "instruct", "fewshot"]
PROMPTS: tuple[Prompt, ...] = ("tower", "instruct", "fewshot")

_NAMES = {"en": "English", "it": "Italian"}
# Written for this project: one question, one statement, one with blanks, one with a number.
_SHOTS = {
    "en": (
        "Which of these animals lays eggs?",
        "The teacher gave every student a new book.",
        "Plants make their food from water and <1>.",
        "The box weighs 2.5 kilograms.",
    ),
    "it": (
        "Quale di questi animali depone le uova?",
        "L'insegnante ha dato a ogni studente un libro nuovo.",
        "Le piante producono il loro nutrimento da acqua e <1>.",
        "La scatola pesa 2,5 chilogrammi.",
    ),
}


def chosen_prompt(model: str, asked: str | None, *, chat: bool) -> Prompt:
    """The prompt for a model: the one asked for, TowerInstruct's for its family, else by whether it chats."""
    if asked is not None:
        return next(prompt for prompt in PROMPTS if prompt == asked)
    if "tower" in model.casefold() and chat:
        return "tower"
    return "instruct" if chat else "fewshot"


def message(prompt: Prompt, sentence: str, source: str, target: str) -> str:
    """The user's message to a model that chats."""
    if prompt == "tower":
        begin = f"Translate the following text from {_NAMES[source]} into {_NAMES[target]}."
        return f"{begin}\n{_NAMES[source]}: {sentence}\n{_NAMES[target]}:"
    return (
        f"Translate the following text from {_NAMES[source]} into {_NAMES[target]}. Keep numbers and anything in angle "
        f"brackets as they are. Answer with the translation only.\n\n{sentence}"
    )


def few_shot(sentence: str, source: str, target: str) -> str:
    """The prompt of a base model: four translations and the beginning of the fifth; its line end is the stop."""
    pairs = zip(_SHOTS[source], _SHOTS[target], strict=True)
    shots = "".join(f"{_NAMES[source]}: {one}\n{_NAMES[target]}: {other}\n\n" for one, other in pairs)
    return f"{shots}{_NAMES[source]}: {sentence}\n{_NAMES[target]}:"


@dataclass(frozen=True)
class Codes:
    """What a sequence-to-sequence model is told about languages.

    Attributes:
        source: For the tokenizer's `src_lang`; None where it has none.
        forced: The token that its output begins with; None where it needs none.
        prefix: What stands before the sentence.
    """

    source: str | None = None
    forced: str | None = None
    prefix: str = ""


# NLLB-200, mBART-50, M2M-100.
_CODES: Mapping[str, tuple[str, str]] = {
    "en": ("eng_Latn", "en_XX"),
    "it": ("ita_Latn", "it_IT"),
}


def language_codes(kind: str, vocabulary: Mapping[str, int], source: str, target: str) -> Codes:
    """Which codes a model takes, by its type and vocabulary.

    Args:
        kind: `model_type` of its configuration.
        vocabulary: Its tokenizer's.
        source, target: "en", "it".

    Raises:
        UserError: It is multilingual in a way that is not known here.
    """
    for one, other in zip((*_CODES[source], f"__{source}__"), (*_CODES[target], f"__{target}__"), strict=True):
        if one in vocabulary and other in vocabulary:
            return Codes(source if one.startswith("__") else one, other)
    if kind == "marian":
        named = (f">>{target}<<", f">>{_CODES[target][0][:3]}<<")
        return Codes(prefix=next((f"{token} " for token in named if token in vocabulary), ""))
    if kind in ("t5", "mt5", "umt5"):
        # MADLAD-400 names the target, T5 asks in words.
        named_target = f"<2{target}>" in vocabulary
        return Codes(prefix=f"<2{target}> " if named_target else f"translate {_NAMES[source]} to {_NAMES[target]}: ")
    raise UserError(
        f"a {kind} model without {_CODES[source][0]} and {_CODES[target][0]} among its tokens is not known here"
    )
