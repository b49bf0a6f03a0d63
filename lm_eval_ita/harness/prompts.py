"""Tasks with several prompts: each row is asked once in every wording, and scores are means over the wordings.

A task's card lists the wordings (`prompts`, templates as in `doc_to_text`), and its `doc_to_text` is "{{prompt}}". A
document and its examples are asked in one wording, and the examples are the same ones in all: only the wording differs.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness import choices
from lm_eval_ita.harness.breakdown import Breakdown
from lm_eval_ita.harness.choices import Choice, Doc, LogLikelihoods

__all__ = [
    "ASKED",
    "by_prompt",
    "classification_results",
    "f1_macro",
    "itacola_results",
    "mcc",
    "multiple_choice_results",
    "with_prompts",
]

# What a document has beside its row: its wording, counted from 1, and the prompt in it.
ASKED = ("wording", "prompt")
# Number of the wording, and what was chosen in it.
Item = tuple[int, Choice]


def with_prompts(rows: Sequence[dict[str, Any]], prompts: object, file: str | None = None) -> list[dict[str, Any]]:
    """The rows in every wording, those of one row beside each other; the rows as they are for a card without prompts.

    Args:
        rows: As a loader prepares them.
        prompts: From the card: None, or two or more templates.
        file: The task's file, for messages.

    Raises:
        UserError: The list is none of templates, or one fails on a row.
    """
    import jinja2
    from lm_eval.utils import env

    where = None if file is None else Path(file)
    if prompts is None:
        return list(rows)
    if not isinstance(prompts, list | tuple) or not all(isinstance(prompt, str) for prompt in prompts):
        raise UserError("metadata.prompts must be a list of texts, each as in doc_to_text", file=where)
    if len(set(prompts)) < max(2, len(prompts)):
        raise UserError("metadata.prompts must hold two or more different prompts", file=where)
    asked: list[dict[str, Any]] = []
    try:
        templates = [env.from_string(prompt) for prompt in prompts]
        for row in rows:
            if taken := row.keys() & set(ASKED):
                raise UserError(f"the column {min(taken)!r} has a name that prompts use; rename it", file=where)
            for number, template in enumerate(templates, start=1):
                asked.append({**row, "wording": number, "prompt": template.render(**row)})
    except jinja2.TemplateError as error:
        number = len(asked) % len(prompts) + 1 if asked else _first_bad(prompts)
        raise UserError(f"metadata.prompts: prompt {number}: {error}; correct it", file=where) from error
    return asked


def _first_bad(prompts: Sequence[str]) -> int:
    import jinja2
    from lm_eval.utils import env

    for number, prompt in enumerate(prompts, start=1):
        try:
            env.parse(prompt)
        except jinja2.TemplateError:
            return number
    return 1


def classification_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """Tasks with a fixed list of labels, scored by macro F1."""
    values = choices.classification_results(doc, results)
    item = (doc["wording"], values["score"])
    return {**values, "f1_macro": item, "score": item, "prompts": item}


def itacola_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """ItaCoLA, scored by MCC."""
    values = classification_results(doc, results)
    return {"mcc": values["score"], **values}


def multiple_choice_results(doc: Doc, results: LogLikelihoods) -> dict[str, Any]:
    """Tasks whose choices are texts; their accuracies are the same over wordings and over documents."""
    values = choices.multiple_choice_results(doc, results)
    return {**values, "prompts": (doc["wording"], {name: values[name] for name in ("acc", "acc_norm")})}


def f1_macro(items: Sequence[Item]) -> float:
    """Mean over the wordings of macro F1; NaN for no documents."""
    return _mean_of(items, choices.f1_macro)


def mcc(items: Sequence[Item]) -> float:
    """Mean over the wordings of the Matthews correlation; NaN for no documents."""
    return _mean_of(items, choices.mcc)


def _mean_of(items: Sequence[Item], metric: Callable[[Sequence[Choice]], float]) -> float:
    values = [metric(own) for own in _apart(items).values()]
    return sum(values) / len(values) if values else math.nan


def by_prompt(items: Sequence[tuple[int, Any]]) -> dict[str, Breakdown]:
    """The figures of each wording, under its number; one short cell in the table. Empty for no documents."""
    parts = {str(number): {**_figures(own), "n": len(own)} for number, own in _apart(items).items()}
    if not parts:
        return {}
    name = "f1_macro" if "f1_macro" in next(iter(parts.values())) else "acc"
    values = [part[name] for part in parts.values()]
    return {"by_prompt": Breakdown(parts, f"{len(parts)} prompts, {name} {min(values):.2f} to {max(values):.2f}")}


def _figures(own: Sequence[Any]) -> dict[str, float]:
    if isinstance(own[0], Mapping):
        return {name: sum(values[name] for values in own) / len(own) for name in own[0]}
    right = sum(gold == chosen for gold, chosen, _ in own)
    return {"f1_macro": choices.f1_macro(own), "mcc": choices.mcc(own), "acc": right / len(own)}


def _apart(items: Sequence[tuple[int, Any]]) -> dict[int, list[Any]]:
    groups: dict[int, list[Any]] = defaultdict(list)
    for number, value in items:
        groups[number].append(value)
    return dict(sorted(groups.items()))
