"""ItaEval for the harness: the data set of a task, evaluated rows and examples in one.

lm_eval hands the document to a few-shot sampler only when examples and documents come from one split. So `load` puts
both into the split "test", told apart by the column `role`, and the task files name `documents` and `examples` as their
`process_docs`.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_ita import catalogue
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness import generation
from lm_eval_ita.harness.prompts import with_prompts
from lm_eval_ita.harness.rows import PREPARE
from lm_eval_ita.metrics.scorers import BERTSCORE, NEUTRALITY, require

__all__ = ["SCORERS", "documents", "examples", "load"]

_log = logging.getLogger(__name__)
# Primary metric to the model that computes it.
SCORERS = {"bertscore": BERTSCORE, "neutral_rate": NEUTRALITY}


def load(
    *,
    dataset: str | Sequence[str],
    primary_metric: str,
    splits: Mapping[str, str],
    label_column: str = "",
    prompts: Sequence[str] | None = None,
    data_dir: str | None = None,
    **_: Any,
) -> Any:
    """The documents of a task and the rows that may be its examples, as the harness's `custom_dataset` wants them.

    lm_eval calls this with the task's card, `--metadata` and the model arguments merged: strangers are ignored.

    Args:
        dataset: From the card: the catalogue key, or several whose rows make one task.
        primary_metric: From the card. A scorer model that it needs must be had now, not after hours of generation.
        splits: From the card: the split that is evaluated ("eval") and the one that examples come from ("shots", none
            for a zero-shot task).
        label_column: From the card: the column with the gold label, where a data set has several.
        prompts: From the card: the wordings of a task with several prompts.
        data_dir: From `--metadata`: a folder `<key>/<split>.jsonl`, or "sample".

    Returns:
        A `datasets.DatasetDict` with the split "test".

    Raises:
        UserError: The data cannot be had or is bad, or a scorer model cannot be had.
    """
    from datasets import Dataset, DatasetDict

    if data_dir is not None and not isinstance(data_dir, str):
        raise UserError(f"data_dir is {data_dir!r}; it must be a folder, or 'sample'")
    if primary_metric in SCORERS:
        generation.use_scorer(primary_metric, require(SCORERS[primary_metric]))
    keys = [dataset] if isinstance(dataset, str) else list(dataset)
    rows: list[dict[str, Any]] = []
    for key in keys:
        rows += _rows(key, splits, label_column, data_dir)
    if "honest" in keys:
        generation.use_hurtlex(catalogue.path("hurtlex", data_dir=data_dir))
    return DatasetDict({"test": Dataset.from_list(with_prompts(rows, prompts))})


def documents(rows: Any) -> Any:
    """The rows that are evaluated: `process_docs` of every task."""
    return _of_role(rows, "document")


def examples(rows: Any) -> Any:
    """The rows that may be examples: `fewshot_config.process_docs` of every few-shot task."""
    return _of_role(rows, "example")


def _of_role(rows: Any, role: str) -> Any:
    roles = rows["role"]
    # A row of both roles ("both") is an example for the others.
    chosen = [position for position, value in enumerate(roles) if value in (role, "both")]
    return rows.select(chosen).remove_columns("role")


def _rows(key: str, splits: Mapping[str, str], label_column: str, data_dir: str | None) -> list[dict[str, Any]]:
    evaluated, shots = splits["eval"], splits.get("shots")
    wanted = list(dict.fromkeys([evaluated, *([shots] if shots else [])]))
    loaded = catalogue.load(key, wanted, data_dir)
    for note in loaded.notes:
        _log.warning("%s", note)
    prepare = PREPARE[key]
    extra = _extras(key, loaded.is_sample, data_dir)
    rows: list[dict[str, Any]] = []
    for split in wanted:
        role = "both" if evaluated == shots else "document" if split == evaluated else "example"
        for row in loaded.splits[split]:
            rows.append({**row, **prepare(row, label_column), **extra(row), "shot_pool": key, "role": role})
    return rows


def _extras(key: str, is_sample: bool, data_dir: str | None) -> Any:
    """What comes from an optional file beside the data: the linguistic phenomena of ItaCoLA."""
    if key != "itacola":
        return lambda _: {}
    known: dict[tuple[int, str], list[str]] = {}
    try:
        found = catalogue.load(key, ["phenomena"], data_dir).splits["phenomena"]
    except UserError as error:
        _log.info("no accuracy per linguistic phenomenon: %s", error)
        found = []
    for row in found:
        names = [name for name, value in row.items() if name not in _ITACOLA_COLUMNS and value == 1]
        known[row["unique_id"], row["sentence"]] = sorted(names)
    return lambda row: {"phenomena": known.get((row["unique_id"], row["sentence"]), [])}


_ITACOLA_COLUMNS = {"unique_id", "source", "acceptability", "sentence"}
