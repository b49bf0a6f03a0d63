"""One row schema per data set: from whichever layout a source uses to the columns of `catalogue.yaml`.

Each function takes a raw row (Hub, folder or canonical layout) and returns one with our column names and nesting.
It renames and reshapes; types, labels and blanks are checked afterwards (`rows.check`), so a function leaves out what
it does not find. What only shows across columns is checked by the functions in `CONSISTENT`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lm_eval_ita.catalogue.readers import RowError

__all__ = ["CONSISTENT", "NORMALISERS", "Row"]

Row = dict[str, Any]


def _renamed(raw: Row, **names: str) -> Row:
    """The row with columns renamed where our name is missing and the other one is there."""
    row = dict(raw)
    for ours, theirs in names.items():
        if ours not in row and theirs in row:
            row[ours] = row.pop(theirs)
    return row


def _texts(row: Row, *columns: str) -> Row:
    """Turn numbers and flags of an identifier-like column into text: the Hub infers types, the source is text."""
    for column in columns:
        if isinstance(row.get(column), int | float):  # bool is an int: "True" and "False", as in the source
            row[column] = str(row[column])
    return row


def _parsed(value: Any, field: str) -> Any:
    """A nested value, which a CSV file holds as JSON text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise RowError(f"not valid JSON ({error})", field) from error


def _pair(row: Row, name: str, first: str, second: str) -> Row:
    """A column of two parallel lists, from that, from a list of records, or from two flat columns `name.first`."""
    value = _parsed(row.get(name), name)
    if value is None and f"{name}.{first}" in row and f"{name}.{second}" in row:
        value = {part: _parsed(row.pop(f"{name}.{part}"), f"{name}.{part}") for part in (first, second)}
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        value = {part: [item.get(part) for item in value] for part in (first, second)}
    if value is not None:
        row[name] = value
    return row


def _same(raw: Row) -> Row:
    """For data sets that have one layout everywhere."""
    return dict(raw)


def _arc_challenge(raw: Row) -> Row:
    """Nested `choices` {text, label} (Hub), AI2's {question: {stem, choices}}, or flat: option_a to option_e."""
    row = _renamed(raw, answerKey="answer")
    stem = row.get("question")
    if isinstance(stem, dict):
        row |= {"question": stem.get("stem"), "choices": stem.get("choices")}
    options = {letter: row.get(f"option_{letter.lower()}") for letter in "ABCDE"}
    if "choices" not in row and any(options.values()):
        present = {letter: text for letter, text in options.items() if text not in (None, "")}
        row["choices"] = {"text": list(present.values()), "label": list(present)}
    return _texts(_pair(row, "choices", "text", "label"), "id", "answerKey")


def _belebele(raw: Row) -> Row:
    return _texts(dict(raw), "correct_answer_num")


def _gente(raw: Row) -> Row:
    return _texts(_renamed(raw, **{"REF-G": "REF_G", "REF-N": "REF_N"}), "ID")


def _haspeede2(raw: Row) -> Row:
    return _renamed(raw, full_text="text")


def _hatecheck(raw: Row) -> Row:
    row = {column: "" if value is None else value for column, value in raw.items()}
    return _texts(
        row,
        *("mhc_case_id", "ref_case_id", "ref_templ_id", "templ_id", "disagreement_in_case", "disagreement_in_template"),
    )


def _hellaswag(raw: Row) -> Row:
    row = _texts(dict(raw), "label")
    return row | {"endings": _parsed(row["endings"], "endings")} if "endings" in row else row


def _honest(raw: Row) -> Row:
    """The source TSV calls the category `mf`."""
    return _renamed(raw, category="mf")


def _itacola(raw: Row) -> Row:
    """The source TSV writes UniqueIndexID, Acceptability, ...; the Hub copy has underscores for hyphens."""
    row = _renamed({column.lower(): value for column, value in raw.items()}, unique_id="uniqueindexid")
    hyphens = {"subject-verb_agreement": "subject_verb_agreement", "wh-islands_violations": "wh_islands_violations"}
    return _renamed(row, **hyphens)


def _squad_it(raw: Row) -> Row:
    """Answers as two lists (Hub) or as records (canonical). A blank gold answer is dropped where others remain.

    Six questions of the official test set carry one, and an empty prediction would be counted as right. Where no other
    answer is left the row stays as it is: leaving questions out is not for a loader to decide.
    """
    row = _pair(dict(raw), "answers", "text", "answer_start")
    answers = row.get("answers")
    if not isinstance(answers, dict):
        return row
    texts, starts = answers.get("text"), answers.get("answer_start")
    if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
        return row
    kept = [pair for pair in zip(texts, starts, strict=True) if not isinstance(pair[0], str) or pair[0].strip()]
    if kept:
        row["answers"] = {"text": [text for text, _ in kept], "answer_start": [start for _, start in kept]}
    return row


def _truthfulqa(raw: Row) -> Row:
    """Targets as {choices, labels} (Hub) or as {choice: label} (the original JSON)."""
    row = dict(raw)
    for name in ("mc1_targets", "mc2_targets"):
        row = _pair(row, name, "choices", "labels")
        value = row.get(name)
        if isinstance(value, dict) and "choices" not in value:
            row[name] = {"choices": list(value), "labels": list(value.values())}
    return row


def _mmmlu(raw: Row) -> Row:
    return _texts(dict(raw), "Question", "A", "B", "C", "D")


def _ami_2020(raw: Row) -> Row:
    return _texts(_renamed(raw, misogynous="misogyny"), "id")


NORMALISERS: dict[str, Callable[[Row], Row]] = {
    "arc_challenge": _arc_challenge,
    "arc_easy": _arc_challenge,
    "belebele": _belebele,
    "fanpage": _same,
    "ilpost": _same,
    "gente": _gente,
    "haspeede2": _haspeede2,
    "hatecheck": _hatecheck,
    "hellaswag": _hellaswag,
    "honest": _honest,
    "hurtlex": _same,
    "ironita": _same,
    "itacola": _itacola,
    "mmmlu": _mmmlu,
    "sentipolc": _same,
    "squad_it": _squad_it,
    "truthfulqa": _truthfulqa,
    "xcopa": _same,
    "ami_2020": _ami_2020,
}


def _parallel(name: str, first: list[Any], second: list[Any]) -> None:
    if len(first) != len(second):
        raise RowError(f"two lists of {len(first)} and {len(second)} that should be equally long", name)


def _check_arc(row: Row) -> None:
    choices = row["choices"]
    _parallel("choices", choices["text"], choices["label"])
    if not 2 <= len(choices["text"]) <= 5:
        raise RowError(f"{len(choices['text'])} options where 2 to 5 are expected", "choices")
    if row["answerKey"] not in choices["label"]:
        raise RowError(f"{row['answerKey']!r} is not among the labels {choices['label']}", "answerKey")


def _check_hellaswag(row: Row) -> None:
    if len(row["endings"]) != 4:
        raise RowError(f"{len(row['endings'])} endings where 4 are expected", "endings")


def _check_honest(row: Row) -> None:
    if row["template_masked"].count("[M]") != 1:
        raise RowError("the template needs exactly one [M]", "template_masked")


def _check_squad(row: Row) -> None:
    _parallel("answers", row["answers"]["text"], row["answers"]["answer_start"])


def _check_truthfulqa(row: Row) -> None:
    for name in ("mc1_targets", "mc2_targets"):
        _parallel(name, row[name]["choices"], row[name]["labels"])
    if sum(row["mc1_targets"]["labels"]) != 1:
        raise RowError("exactly one choice must be true", "mc1_targets")
    if len(set(row["mc2_targets"]["labels"])) != 2:
        raise RowError("at least one true and one false choice are needed", "mc2_targets")


CONSISTENT: dict[str, Callable[[Row], None]] = {
    "arc_challenge": _check_arc,
    "arc_easy": _check_arc,
    "hellaswag": _check_hellaswag,
    "honest": _check_honest,
    "squad_it": _check_squad,
    "truthfulqa": _check_truthfulqa,
}
