"""Tasks outside the package, as `lm-eval-ita new-task` writes them: rows of any data set, prepared as the card says.

The harness tells a loader which file its task is in (`config_source`); `catalogue.yaml` beside that file describes the
data set, so that the task works from any folder that a run is started in. As for the package's own tasks, documents and
examples are put into the split "test", told apart by the column `role` (`harness.itaeval` says why).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lm_eval_ita import catalogue
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.prompts import with_prompts
from lm_eval_ita.harness.rows import shot_key
from lm_eval_ita.metrics import rouge
from lm_eval_ita.metrics.text import is_empty

__all__ = ["ADDED", "CATALOGUE", "LETTERS", "Columns", "entries", "load", "prepare", "text_results"]

_log = logging.getLogger(__name__)
CATALOGUE = "catalogue.yaml"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ADDED = frozenset({"options", "label", "golds", "gold", "shot_key", "shot_pool", "role"})


class Columns(BaseModel):
    """Which columns of the data set mean what: the card's `columns`.

    Attributes:
        key: Columns whose text makes two rows the same one: such rows are never each other's example.
        choices: The options: one column with a list of them ("choices.text" inside a nested one), or a column each.
        labels: Where every row has the same options: the values of the label column, in the order of `doc_to_choice`.
        label: The column with the right option.
        counted: How it names an option of `choices`: its position from 0 ("zero") or 1 ("one"), a letter, its text, or
            its name in the list `names`.
        names: The column with the options' names, where `counted` is "names".
        answer: The column with the right answer of a task that generates: a text, or a list of texts.
        fields: Names for templates, to the columns that they stand for: nested ones, and such as "REF-G".
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: tuple[str, ...] = ()
    choices: str | tuple[str, ...] | None = None
    labels: tuple[bool | int | str, ...] | None = None
    label: str | None = None
    counted: Literal["zero", "one", "letter", "text", "names"] | None = None
    names: str | None = None
    answer: str | None = None
    fields: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_kind(self) -> Columns:
        kinds = [self.choices is not None, self.labels is not None, self.answer is not None]
        if sum(kinds) != 1:
            raise ValueError("give one of choices, labels and answer")
        if self.answer is None and self.label is None:
            raise ValueError("label is missing")
        if (self.choices is not None) != (self.counted is not None):
            raise ValueError("choices and counted go together")
        if (self.counted == "names") != (self.names is not None):
            raise ValueError("names goes with counted: names")
        return self

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that is named."""
        choices = (self.choices,) if isinstance(self.choices, str) else self.choices or ()
        named = (*self.key, *choices, self.label, self.names, self.answer, *self.fields.values())
        return tuple(dict.fromkeys(name for name in named if name is not None))


def entries(folder: Path) -> dict[str, catalogue.Entry]:
    """The data sets that a task in a folder may name: the package's, and those of `catalogue.yaml` there.

    Raises:
        UserError: That file is wrong.
    """
    path = folder / CATALOGUE
    return {**catalogue.catalogue(), **(catalogue.read_catalogue(path) if path.is_file() else {})}


def load(
    *,
    config_source: str,
    dataset: str,
    splits: Mapping[str, str],
    columns: Mapping[str, Any],
    prompts: Sequence[str] | None = None,
    data_dir: str | None = None,
    **_: Any,
) -> Any:
    """The documents of a task and the rows that may be its examples, as the harness's `custom_dataset` wants them.

    Args:
        config_source: From the harness: the task's file.
        dataset: From the card: a key of `catalogue.yaml` beside that file, or of the package's catalogue.
        splits: From the card: the split that is evaluated ("eval") and the one that examples come from ("shots").
        columns: From the card: what `Columns` holds.
        prompts: From the card: the wordings of a task with several prompts (`harness.prompts`).
        data_dir: From `--metadata`: a folder `<key>/<split>.jsonl`, or "sample" for `samples/` beside the task file.

    Returns:
        A `datasets.DatasetDict` with the split "test".

    Raises:
        UserError: The card, the catalogue or the data are wrong, or the data cannot be had.
    """
    from datasets import Dataset, DatasetDict

    source = Path(config_source)
    if data_dir is not None and not isinstance(data_dir, str):
        raise UserError(f"data_dir is {data_dir!r}; it must be a folder, or 'sample'")
    meant = _meant(columns, source)
    known = entries(source.parent)
    if dataset not in known:
        raise UserError(f"no data set {dataset!r} in {source.parent / CATALOGUE}; add it there", file=source)
    evaluated, shots = splits["eval"], splits.get("shots")
    wanted = list(dict.fromkeys([evaluated, *([shots] if shots else [])]))
    loaded = catalogue.load_entry(known[dataset], wanted, data_dir)
    for note in loaded.notes:
        _log.warning("%s", note)
    rows: list[dict[str, Any]] = []
    for split in wanted:
        role = "both" if evaluated == shots else "document" if split == evaluated else "example"
        for number, row in enumerate(loaded.splits[split], start=1):
            try:
                added = prepare(row, meant)
            except ValueError as error:
                raise UserError(f"row {number} of {dataset} {split}: {error}", file=source) from error
            rows.append({**row, **added, "shot_pool": dataset, "role": role})
    return DatasetDict({"test": Dataset.from_list(with_prompts(rows, prompts, config_source))})


def _meant(columns: Mapping[str, Any], source: Path) -> Columns:
    try:
        return Columns.model_validate(columns)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in ("metadata.columns", *first["loc"]))
        raise UserError(f"{field}: {first['msg'].lower()}; correct it", file=source) from error


def prepare(row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """What a document has beside its row: `options` and `label`, or `golds` and `gold`; and `shot_key`.

    Raises:
        ValueError: A column is missing, or the label is none of the options.
    """
    if taken := ((ADDED | columns.fields.keys()) & row.keys()) - set(columns.used):
        raise ValueError(f"the column {min(taken)!r} has a name that is used for prepared rows; rename it")
    added: dict[str, Any] = {name: _value(row, column) for name, column in columns.fields.items()}
    added["shot_key"] = shot_key(" ".join(str(_value(row, name)) for name in columns.key))
    if columns.answer is not None:
        given = _value(row, columns.answer)
        texts = [str(text).strip() for text in (given if isinstance(given, list) else [given])]
        golds = [text for text in texts if text]
        return {**added, "golds": golds, "gold": golds[0] if golds else ""}
    assert columns.label is not None
    label = _value(row, columns.label)
    if columns.labels is not None:
        return {**added, "label": _among(label, columns.labels)}
    options = _options(row, columns)
    return {**added, "options": options, "label": _position(label, options, row, columns)}


def _value(row: Mapping[str, Any], name: str) -> Any:
    outer, _, inner = name.partition(".")
    found = row.get(outer)
    if inner:
        found = found.get(inner) if isinstance(found, dict) else None
    if found is None:
        raise ValueError(f"the column {name!r} is empty or missing")
    return found


def _options(row: Mapping[str, Any], columns: Columns) -> list[str]:
    if isinstance(columns.choices, str):
        return [str(option).strip() for option in _value(row, columns.choices)]
    texts = [row.get(name) for name in columns.choices or ()]
    while texts and (texts[-1] is None or not str(texts[-1]).strip()):
        texts.pop()  # questions with fewer options leave the last columns blank
    return ["" if text is None else str(text).strip() for text in texts]


def _position(label: Any, options: Sequence[str], row: Mapping[str, Any], columns: Columns) -> int:
    """The position of the right option, from 0."""
    if columns.counted == "text":
        return _among(str(label).strip(), options)
    if columns.counted == "names" and columns.names is not None:
        return _among(label, _value(row, columns.names))
    if columns.counted == "letter":
        position = LETTERS.find(str(label).strip().upper()) if len(str(label).strip()) == 1 else -1
    else:
        position = int(str(label)) - (columns.counted == "one") if str(label).strip().isdigit() else -1
    if not 0 <= position < len(options):
        raise ValueError(f"the label {label!r} is none of its {len(options)} options")
    return position


def _among(label: Any, values: Sequence[Any]) -> int:
    # True and 1 are equal in Python, and mean the same here.
    if label not in values:
        raise ValueError(f"the label {label!r} is none of {', '.join(map(repr, values))}")
    return list(values).index(label)


def text_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Long answers: ROUGE against the gold answer that is nearest."""
    text = results[0].strip()
    scored = [rouge.rouge([text], [gold])[0] for gold in doc["golds"]]
    longest = max((scores.rougeL for scores in scored), default=float("nan"))
    return {
        "rougeL": longest,
        "rouge1": max((scores.rouge1 for scores in scored), default=float("nan")),
        "score": longest,
        "empty": float(is_empty(text)),
    }
