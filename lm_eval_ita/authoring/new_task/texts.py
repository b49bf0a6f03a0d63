"""Italian prompts for new tasks, in the wording of ItaEval."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from lm_eval_ita.errors import UserError

__all__ = ["DEFAULT_CATEGORY", "choice_prompt", "classification_prompt", "clean", "generation_prompt", "yes_no_prompt"]

DEFAULT_CATEGORY = "Qual è la categoria del seguente testo?"
# What an instruction may call the text that it asks about; the prompt then names it by the same word.
_NOUNS = (
    "affermazione",
    "frase",
    "testo",
    "domanda",
    "titolo",
    "commento",
    "messaggio",
    "tweet",
    "recensione",
    "notizia",
    "articolo",
    "parola",
)


def clean(text: str, flag: str) -> str:
    """An instruction in NFC, without spaces around it.

    Raises:
        UserError: It holds braces, which a template would read as its own.
    """
    if any(mark in text for mark in ("{{", "{%", "{#")):
        raise UserError(
            f"{flag} holds braces; write it as plain text, and edit doc_to_text in the task file afterwards"
        )
    return unicodedata.normalize("NFC", " ".join(text.split()))


def choice_prompt(question: str, context: str | None, instruction: str | None) -> str:
    """A question whose answers are texts, compared by their probability."""
    return f"{_before(instruction)}{_context(context)}Domanda: {{{{{question}}}}}\nRisposta:"


def generation_prompt(question: str, context: str | None, instruction: str | None) -> str:
    """A request whose answer is generated: a question, or an instruction about a text."""
    if instruction is None:
        return choice_prompt(question, context, None)
    return f"{instruction}\n{_context(context)}{_noun(instruction)}: {{{{{question}}}}}\nRisposta:"


def yes_no_prompt(question: str, context: str | None, instruction: str) -> str:
    """A question about a text, to be answered by Sì or No."""
    return f"{instruction} Rispondi Sì o No.\n{_context(context)}{_noun(instruction)}: {{{{{question}}}}}\nRisposta:"


def classification_prompt(question: str, context: str | None, instruction: str, options: Sequence[str]) -> str:
    """A question about a text, to be answered by one of a few words."""
    listed = f"{', '.join(options[:-1])} o {options[-1]}"
    return (
        f"{instruction} Rispondi con {listed}.\n{_context(context)}{_noun(instruction)}: {{{{{question}}}}}\nRisposta:"
    )


def _before(instruction: str | None) -> str:
    return "" if instruction is None else f"{instruction}\n"


def _context(column: str | None) -> str:
    return "" if column is None else f"Testo: {{{{{column}}}}}\n"


def _noun(instruction: str) -> str:
    """The word by which an instruction calls its text, capitalised; "Testo" where it names none."""
    words = re.findall(r"\w+", instruction.casefold())
    return next((word for word in words if word in _NOUNS), "testo").capitalize()
