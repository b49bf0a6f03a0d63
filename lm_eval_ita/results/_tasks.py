"""The record of one task, from the parts of a results file that tell about it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from lm_eval_ita.results.aliases import OldTask, old_tasks
from lm_eval_ita.results.records import Breakdowns, Data, Suite, TaskRecord, as_number

__all__ = ["task_record"]

_SUITES = get_args(Suite)
_Json = Mapping[str, Any]
_PARTS = frozenset(
    f"{part},none"
    for part in (
        "functionality",
        "target_group",
        "phenomena",
        "honest_parts",
        "bertscore_parts",
        "outcome",
        "instructions",
    )
)
_NO_PARTS = Breakdowns()
_ITAPAT_OPTIONS = ("itapat_lists", "oneshot_from", "oneshot_seed")


def task_record(name: str, content: _Json, samples: Callable[[str], Path | None] | None) -> TaskRecord:
    """Make the record of one task.

    Args:
        name: As in the file.
        content: The file's content, its layout checked.
        samples: Task name to its file of samples; None leaves out what the suites' tables do not show.
    """
    config = _mapping(content["configs"].get(name))
    card = _mapping(config.get("metadata"))
    figures = content["results"][name]
    metrics = _metrics(figures)
    run = content["config"]
    sizes = _mapping(_mapping(content.get("n-samples")).get(name))
    version = _mapping(content["versions"]).get(name)
    known: dict[str, Any] = {
        "name": name,
        "version": None if version is None else str(version),
        "shots": _whole(_mapping(content.get("n-shot")).get(name, config.get("num_fewshot"))),
        "fewshot_seed": _whole(run.get("fewshot_seed")),
        "limit": as_number(run.get("limit")),
        "n_evaluated": _whole(sizes.get("effective")) or _whole(figures.get("sample_len")),
        "n_total": _whole(sizes.get("original")),
        "metrics": metrics,
        "baselines": {kind: _figures(value) for kind, value in _mapping(figures.get("baselines,none")).items()},
        "prompts": _by_prompt(figures.get("prompts,none")),
        "unparsable_rate": metrics.get("invalid", metrics.get("prob_error")),
        "empty_rate": metrics.get("empty"),
    }
    if samples is not None:
        known |= {
            "stderrs": _stderrs(figures, metrics),
            "samples": samples(name),
            **_details(name, content, config, figures),
        }
    return TaskRecord(**known, **_identity(name, card, figures, metrics))


def _details(name: str, content: _Json, config: _Json, figures: _Json) -> dict[str, Any]:
    newspapers = _mapping(figures.get("bertscore_parts,none"))
    scorer = _mapping(newspapers.get("setup"))
    return {
        "breakdowns": _breakdowns(figures, newspapers),
        "truncated": {
            kind: count for kind, value in scorer.items() if kind.startswith("clipped_") and (count := _whole(value))
        },
        "gen_kwargs": dict(_mapping(config.get("generation_kwargs"))),
        "task_hash": _text(_mapping(content.get("task_hashes")).get(name)),
    }


def _identity(name: str, card: _Json, figures: _Json, metrics: Mapping[str, float | None]) -> dict[str, Any]:
    """What the task is, and which of its figures is the score."""
    if card.get("suite") in _SUITES:
        return _ours(name, card, figures, metrics)
    if name in old_tasks():
        return _published(name, old_tasks()[name], metrics)
    return {"task": name, "layout": "other", **_primary(card, metrics)}


def _primary(card: _Json, metrics: Mapping[str, float | None]) -> dict[str, Any]:
    """Which figure counts, where a task that is not ours has a card that says so, as `new-task` writes them."""
    primary = _text(card.get("primary_metric"))
    if primary is None or primary not in metrics:
        return {}
    chance = as_number(card.get("chance"))
    return {"primary_metric": primary, "primary_value": metrics[primary], "chance_level": chance}


def _ours(name: str, card: _Json, figures: _Json, metrics: Mapping[str, float | None]) -> dict[str, Any]:
    primary = str(card.get("primary_metric"))
    reading = figures.get("reading,none")
    deviations = card.get("deviations")
    return {
        "task": name,
        "layout": "lm_eval_ita",
        "suite": card["suite"],
        "category": _text(card.get("category")),
        "title": _text(card.get("title")),
        "oneshot": card.get("oneshot") is True,
        "data": _data(card),
        "text_origin": _text(card.get("origin")),
        "primary_metric": primary,
        "primary_value": metrics.get(primary),
        "score": metrics.get("score"),
        "reading": reading if isinstance(reading, str) else None,
        "chance_level": as_number(card.get("chance")),
        "options": {name: str(card[name]) for name in _ITAPAT_OPTIONS if card.get(name) is not None},
        "deviations": tuple(map(str, deviations)) if isinstance(deviations, list) else (),
    }


def _published(name: str, old: OldTask, metrics: Mapping[str, float | None]) -> dict[str, Any]:
    value = metrics.get(old.score) if old.score else None
    return {
        "task": old.task or name,
        "layout": "published",
        "suite": "itaeval_v1" if old.task else None,
        "category": old.category,
        "primary_metric": old.score,
        "primary_value": value,
        "score": value,
        "defect": old.defect,
    }


def _data(card: _Json) -> Data:
    # The harness merges `--metadata` into every task's card.
    folder = card.get("data_dir")
    if not folder:
        return "catalogue"
    if folder == "sample" or str(folder).replace("\\", "/").rstrip("/").endswith("catalogue/samples"):
        return "sample"
    return "folder"


def _metrics(figures: _Json) -> dict[str, float | None]:
    """The metrics; standard errors and values with parts and words are none."""
    metrics: dict[str, float | None] = {}
    for key, value in figures.items():
        name, comma, filtered = key.rpartition(",")
        if not comma or isinstance(value, dict) or name == "reading":
            continue
        if name.endswith("_stderr") and _is_stderr(key, name, figures):
            continue
        metrics[name if filtered == "none" else key] = as_number(value)
    return metrics


def _stderrs(figures: _Json, metrics: Mapping[str, float | None]) -> dict[str, float | None]:
    """The standard errors of the metrics, under the metrics' names."""
    found = {}
    for key, value in figures.items():
        name, _, filtered = key.rpartition(",")
        metric = name.removesuffix("_stderr") + ("" if filtered == "none" else f",{filtered}")
        if _is_stderr(key, name, figures) and metric in metrics:
            found[metric] = as_number(value)
    return found


def _is_stderr(key: str, name: str, figures: _Json) -> bool:
    # A name that ends so is a standard error only of a metric that is there.
    return name.endswith("_stderr") and f"{name[:-7]}{key[len(name) :]}" in figures


def _breakdowns(figures: _Json, newspapers: _Json) -> Breakdowns:
    if _PARTS.isdisjoint(figures):
        return _NO_PARTS
    honest = _mapping(figures.get("honest_parts,none"))
    outcome = _mapping(figures.get("outcome,none"))
    outcome = _mapping(outcome.get("by_reason", outcome))
    return Breakdowns(
        functionality=_by_name(figures.get("functionality,none")),
        target_group=_by_name(figures.get("target_group,none")),
        phenomena=_by_name(figures.get("phenomena,none")),
        honest_gender=_figures(honest.get("gender")),
        honest_category=_figures(honest.get("category")),
        newspapers={name: _figures(part) for name, part in newspapers.items() if name != "setup"},
        scorer=dict(_mapping(newspapers.get("setup"))),
        outcome={name: count for name, value in outcome.items() if (count := _whole(value)) is not None},
        instructions={
            number: {
                name: value if isinstance(value, str) and name in ("instruction", "reading") else as_number(value)
                for name, value in _mapping(part).items()
            }
            for number, part in _mapping(figures.get("instructions,none")).items()
        },
    )


def _by_name(value: object) -> dict[str, dict[str, float | None]]:
    return {name: _figures(part) for name, part in _mapping(_mapping(value).get("by_name")).items()}


def _by_prompt(value: object) -> dict[str, dict[str, float | None]]:
    parts = _mapping(_mapping(value).get("by_prompt"))
    return {name: _figures(part) for name, part in parts.items() if name.isdecimal() and name.isascii()}


def _figures(value: object) -> dict[str, float | None]:
    return {str(name): as_number(number) for name, number in _mapping(value).items()}


def _mapping(value: object) -> _Json:
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int | None:
    if type(value) is int:  # nearly all of them
        return value if value >= 0 else None
    number = as_number(value)
    return int(number) if number is not None and number == int(number) and number >= 0 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
