"""What the board knows about a row's model, from a submission or from a printed table."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lm_eval_ita.results.grid import displayed
from lm_eval_ita.results.submission_records import Submission
from lm_eval_ita.results.suite import Row

__all__ = ["Model", "plain", "printed_model", "submitted_model"]

_LONGEST_NAME, _LONGEST_FACT = 60, 40
# The number of parameters as models' names give it: "7B", "350M", "1.5b".
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)
_CHAT = re.compile(r"instruct|instr\b|chat|dpo|sft|-c$", re.IGNORECASE)


@dataclass(frozen=True)
class Model:
    """One model with one way to use it. Texts are on one line, of bounded length, and may still hold anything.

    Attributes:
        id: In links; of letters, digits, "." and "-".
        name: As shown.
        identifier: Hub id or path.
        organisation: Who made it; None where unknown.
        parameters: Their number; None where unknown.
        kind: None where unknown.
        licence: Of the weights; None where unknown.
        submitted: When; None for printed figures.
        printed: Whether the figures are those of a paper.
        searched: What a search looks into, as `plain` makes it.
    """

    id: str
    name: str
    identifier: str
    organisation: str | None = None
    parameters: int | None = None
    kind: Literal["base", "chat"] | None = None
    licence: str | None = None
    submitted: datetime | None = None
    printed: bool = False
    searched: str = ""


def plain(text: str) -> str:
    """A text without accents and capitals, so that "perche" finds "Perché"."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def submitted_model(submission: Submission) -> Model:
    """The model of a submission."""
    facts, identity = submission.facts, submission.run.model
    organisation = None if facts.organisation is None else displayed(facts.organisation, _LONGEST_FACT)
    return Model(
        id=submission.submission_id,
        name=displayed(facts.display_name, _LONGEST_NAME),
        identifier=identity.name,
        organisation=organisation,
        parameters=facts.parameters,
        kind=facts.kind,
        licence=displayed(facts.licence, _LONGEST_FACT),
        submitted=submission.submitted,
        searched=plain(f"{facts.display_name}\n{organisation or ''}\n{displayed(identity.name, 100)}"),
    )


def printed_model(row: Row, *, is_chat: bool = False) -> Model:
    """The model of a printed row: its size and kind as far as its names tell them.

    Args:
        row: As `published_rows` makes it.
        is_chat: Whether the paper has models that follow instructions only.
    """
    names = (row.model.name, row.label)
    sizes = [found for name in names for found in _SIZE.findall(name)]
    number, unit = sizes[0] if sizes else (None, "")
    return Model(
        id="paper-" + re.sub(r"[^a-z0-9]+", "-", row.label.lower()).strip("-"),
        name=row.label,
        identifier=row.model.name,
        parameters=None if number is None else round(float(number) * {"b": 1e9, "m": 1e6}[unit.lower()]),
        kind="chat" if is_chat or any(_CHAT.search(name) for name in names) else "base",
        printed=True,
        searched=plain(f"{row.label}\n{row.model.name}"),
    )
