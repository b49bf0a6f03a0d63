"""From a request, its data and the answers of whoever is there to a plan for a task over rows."""

from __future__ import annotations

import keyword
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from lm_eval_ita.authoring.new_task import propose, texts
from lm_eval_ita.authoring.new_task.asking import Asker
from lm_eval_ita.authoring.new_task.columns import Facts, describe
from lm_eval_ita.authoring.new_task.plan import About, Plan, Request
from lm_eval_ita.authoring.new_task.settle import Meanings
from lm_eval_ita.authoring.new_task.table import Table
from lm_eval_ita.catalogue.readers import RowError
from lm_eval_ita.catalogue.rows import check
from lm_eval_ita.catalogue.schema import Column
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.own import ADDED, Columns, prepare
from lm_eval_ita.harness.task_files import Origin

__all__ = ["about", "decide"]

_KINDS = {
    "str": "text",
    "int": "whole numbers",
    "bool": "true or false",
    "strings": "lists of texts",
    "ints": "lists of whole numbers",
    None: "something else, which is left out",
}
_SHOTS = {"multiple_choice": 0, "yes_no": 5, "generation": 5}
_JINJA_WORDS = frozenset({"true", "false", "none", "and", "or", "not", "in", "is", "if", "else", "for", "loop", "self"})


def decide(request: Request, table: Table, asker: Asker) -> Plan:
    """Settle everything about a task over rows.

    Raises:
        UserError: A flag is missing and nobody can be asked, names no column, or a row does not fit.
    """
    asker.tell("Rows: " + ", ".join(f"{name} {len(rows)}" for name, rows in table.splits.items()))
    evaluated, shots_from, shots = _splits(request, table, asker)
    names = [evaluated, *([shots_from] if shots_from and shots_from != evaluated else [])]
    rows = [row for name in names for row in table.splits[name]]
    facts = describe(rows)
    asker.tell("\n".join(["Columns:", *_listing(facts)]))
    meanings = Meanings(request, asker, rows, facts)
    asked = "Which column holds the text that is asked about?"
    question = meanings.column("--question", asked, request.question, propose.question(facts))
    context = None if request.context is None else meanings.named("--context", request.context)
    meaning = meanings.meaning(question)
    fields, shown = _template_names([question, *([context] if context else [])])
    columns = Columns.model_validate({"key": [context or question], "fields": fields, **meaning.columns})
    types = _types(facts, columns)
    used = {name: _checked(table, name, types) for name in names}
    prepared = _prepared(used, columns)
    metric, longest = "acc_norm" if meaning.options is None else "f1_macro", None
    if request.kind == "generation":
        metric, longest = meanings.generation(prepared)
    unanswered = sum(not row.get("golds", True) for row in prepared)
    return Plan(
        name=request.name,
        kind=request.kind,
        table=table,
        used=used,
        columns=columns,
        types=types,
        prompt=meaning.prompt(shown[question], None if context is None else shown[context]),
        options=meaning.options,
        evaluated=evaluated,
        shots_from=shots_from,
        shots=shots,
        metric=metric,
        max_gen_toks=longest,
        chance=_chance(prepared, meaning.options),
        unanswered=unanswered,
        deviations=_deviations(shots_from == evaluated, unanswered, len(prepared)),
        accepts=_accepts(prepared),
        about=about(request, asker, table.licence),
        keep_samples=asker.agreed(
            "Does the licence allow ten rows of each split to be kept beside the task?", request.keep_samples
        ),
    )


def _listing(facts: Mapping[str, Facts]) -> Iterator[str]:
    """The columns, for whoever answers."""
    width = max(map(len, facts))
    for name, fact in facts.items():
        values = "" if fact.values is None or len(fact.values) > 6 else ": " + ", ".join(map(str, fact.values))
        yield f"  {name:{width}}  {_KINDS[fact.kind]}{values if len(values) < 80 else ''}"


def _deviations(shared: bool, unanswered: int, rows: int) -> tuple[str, ...]:
    told = ["examples come from the evaluated split, never the same text"] if shared else []
    if unanswered:
        told.append(f"{unanswered} of {rows} rows have no right answer, and are left out of the means")
    return tuple(told)


def _chance(prepared: Sequence[Mapping[str, Any]], options: Sequence[str] | None) -> float | None:
    """What guessing scores: one in so many options; None where there is nothing to guess from."""
    counts = [len(options or row.get("options", ())) for row in prepared]
    return round(statistics.mean(1 / count for count in counts), 3) if all(counts) else None


def about(request: Request, asker: Asker, licence: str | None) -> About:
    """Where the task comes from."""
    kinds = get_args(Origin)
    origin = asker.needed("--origin", "How did the text come about?", request.origin, None, kinds)
    if origin not in kinds:
        raise UserError(f"--origin is {origin!r}; it is one of {', '.join(kinds)}")
    return About(
        title=texts.clean(
            asker.optional("A title for the data set", request.title, request.name.replace("_", " ")), "--title"
        ),
        origin=origin,  # type: ignore[arg-type]  # one of its values
        licence=texts.clean(
            asker.optional("The licence of the data", request.licence, licence or "not stated"), "--licence"
        ),
        paper=texts.clean(
            asker.optional("The paper or page that they come from", request.paper, "not published"), "--paper"
        ),
    )


def _splits(request: Request, table: Table, asker: Asker) -> tuple[str, str | None, int]:
    """The evaluated split, the one for examples (None for no examples), and how many examples."""
    names = list(table.splits)
    likely, asked = propose.evaluated_split(names), "Which split is evaluated?"
    if len(names) == 1:
        evaluated = request.split or names[0]
    elif likely is None:
        evaluated = asker.needed("--split", asked, request.split, None, names)
    else:
        evaluated = asker.optional(asked, request.split, likely)
    _known("--split", evaluated, names)
    shots_from = request.fewshot_split or propose.shots_split(names, evaluated)
    _known("--fewshot-split", shots_from, names)
    enough = len(table.splits[shots_from]) - (shots_from == evaluated)
    usual = str(min(_SHOTS[request.kind], enough))
    given = None if request.shots is None else str(request.shots)
    typed = asker.optional(f"How many examples a prompt, from split {shots_from}?", given, usual)
    if not typed.isdecimal() or int(typed) > enough:
        raise UserError(f"--shots {typed}: the split {shots_from} has {enough} rows for examples; give 0 to {enough}")
    return evaluated, shots_from if int(typed) else None, int(typed)


def _known(flag: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise UserError(f"{flag} {name}: there is no such split; there are {', '.join(names)}")


def _template_names(columns: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Names that templates can hold: (name to column where they differ, column to name)."""
    fields: dict[str, str] = {}
    names: dict[str, str] = {}
    for column in columns:
        name = column
        if not column.isidentifier() or keyword.iskeyword(column) or column in _JINJA_WORDS or column in ADDED:
            name = "text_" + re.sub(r"\W+", "_", column).strip("_").lower()
            fields[name] = column
        names[column] = name
    return fields, names


def _types(facts: Mapping[str, Facts], columns: Columns) -> dict[str, Column]:
    """The columns of the catalogue entry: those that are used, and what else the catalogue takes."""
    found: dict[str, Column] = {}
    texts_needed = {*columns.key, *columns.fields.values(), columns.answer}
    options = (columns.choices,) if isinstance(columns.choices, str) else columns.choices or ()
    may_be_blank = {*options, columns.answer}
    for name, fact in facts.items():
        used = name in columns.used
        if fact.kind is None or (name in ADDED and not used):
            continue
        kind = "str" if name in texts_needed and fact.kind == "int" else fact.kind
        labels = fact.values if columns.labels is not None and name == columns.label else None
        if labels is not None and kind == "int":
            labels = tuple(int(value) for value in labels)
        found[name] = Column(
            type=kind,
            labels=None if labels is None or kind == "bool" else labels,
            optional=fact.missing and (not used or name in options),
            empty=fact.blank and (not used or name in may_be_blank),
        )
    return found


def _checked(table: Table, split: str, types: Mapping[str, Column]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, row in enumerate(table.splits[split], start=1):
        try:
            rows.append(check(dict(row), dict(types)))
        except RowError as error:
            problem = f"row {number} of split {split}: {error}; correct the row, or leave it out"
            raise UserError(problem, file=table.files.get(split)) from error
    return rows


def _prepared(used: Mapping[str, Sequence[Mapping[str, Any]]], columns: Columns) -> list[dict[str, Any]]:
    prepared: list[dict[str, Any]] = []
    for split, rows in used.items():
        for number, row in enumerate(rows, start=1):
            try:
                added = prepare(row, columns)
            except ValueError as error:
                raise UserError(f"row {number} of split {split}: {error}") from error
            options = added.get("options")
            if options is not None and (len(options) < 2 or not all(option.strip() for option in options)):
                raise UserError(
                    f"row {number} of split {split} has {len(options)} options, or an empty one: leave it out"
                )
            prepared.append(added)
    return prepared


def _accepts(prepared: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the data break and nobody here can mend."""
    twice = sum(len(set(row["options"])) < len(row["options"]) for row in prepared if "options" in row)
    if not twice:
        return {}
    return {"duplicate-choice": f"{twice} of {len(prepared)} rows of the data hold an option twice"}
