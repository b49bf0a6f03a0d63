"""What a figure must be measured on to be comparable: the suites as they are installed."""

import functools
from dataclasses import dataclass

from lm_eval_ita.results.records import Suite

__all__ = ["Reference", "document_count", "references"]


@dataclass(frozen=True)
class Reference:
    """A task of ours as it is installed.

    Attributes:
        task: Its name.
        suite, category: Where it belongs.
        metric: The metric behind its score.
        version: As text.
        shots: Few-shot examples per prompt.
        chance: What guessing scores in the metric; None where there is no such thing.
        documents: How many documents the whole data set has, each prompt of a task with several counted; None where no
            source says, and for ItaP-AT's prompts.
        origin: "native", "human_translated", "machine_translated" or "template".
        title: ItaP-AT: the two target sets, "X / Y".
        oneshot: ItaP-AT: whether the prompts hold the anti-stereotypical hint.
        bounds: Smallest and largest value of the metric.
        is_inverted: Whether `score` is 1 - metric, since less of the metric is better.
        metrics: What the task reports, by name, parts and texts among it.
    """

    task: str
    suite: Suite
    category: str
    metric: str
    version: str
    shots: int
    chance: float | None
    documents: int | None
    origin: str
    title: str | None
    oneshot: bool
    bounds: tuple[float, float]
    is_inverted: bool
    metrics: tuple[str, ...]


@functools.cache
def references() -> dict[str, Reference]:
    """Every task of ours by its name, in the order of the suites' groups.

    Raises:
        UserError: The task files are missing from the installation.
    """
    from lm_eval_ita.harness.task_files import read_task_files

    files = {file.name: file for file in read_task_files()}
    ordered = [name for group in files.values() if group.kind == "group" for name in group.members]
    found: dict[str, Reference] = {}
    for name in ordered:
        file = files[name]
        if file.card is None:
            continue
        card, extra = file.card, file.card.model_extra or {}
        found[name] = Reference(
            task=name,
            suite=card.suite,
            category=card.category,
            metric=card.primary_metric,
            version=str(card.version),
            shots=int(file.config.get("num_fewshot", 0)),
            chance=card.chance,
            documents=_documents(card.dataset, extra.get("splits", {}).get("eval"), len(extra.get("prompts", [""]))),
            origin=card.origin,
            title=extra.get("title"),
            oneshot=extra.get("oneshot") is True,
            bounds=card.range,
            is_inverted=any(
                entry["metric"] == card.primary_metric and entry.get("higher_is_better") is False
                for entry in file.config["metric_list"]
            ),
            metrics=tuple(entry["metric"] for entry in file.config["metric_list"]),
        )
    return found


def document_count(reference: Reference) -> int | None:
    """How many documents a task has when all are evaluated: of a data set, or the prompts of a test of ItaP-AT."""
    return _prompt_counts()[reference.task] if reference.suite == "itapat" else reference.documents


@functools.cache
def _prompt_counts() -> dict[str, int]:
    # SciPy comes with it, which takes a second to import: only here.
    from lm_eval_ita.itapat import build_rows, load_tests

    counts = {test.name: len(build_rows(test)) for test in load_tests()}
    return {f"itapat_{kind}{name}": count for name, count in counts.items() for kind in ("", "oneshot_")}


def _documents(dataset: str | tuple[str, ...], split: str | None, prompts: int) -> int | None:
    from lm_eval_ita.catalogue.schema import catalogue

    if split is None:  # ItaP-AT's prompts are built, not read
        return None
    entries = catalogue()
    counts = [entries[key].splits[split].rows for key in ((dataset,) if isinstance(dataset, str) else dataset)]
    return prompts * sum(count for count in counts if count) if all(counts) else None
