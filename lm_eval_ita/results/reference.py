"""What a figure must be measured on to be comparable: the suites as they are installed."""

import functools
from dataclasses import dataclass

from lm_eval_ita.results.records import Suite

__all__ = ["Reference", "references"]


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
        documents: How many documents the whole data set has; None where no source says.
    """

    task: str
    suite: Suite
    category: str
    metric: str
    version: str
    shots: int
    chance: float | None
    documents: int | None


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
            documents=_documents(card.dataset, extra.get("splits", {}).get("eval")),
        )
    return found


def _documents(dataset: str | tuple[str, ...], split: str | None) -> int | None:
    from lm_eval_ita.catalogue.schema import catalogue

    if split is None:  # ItaP-AT's prompts are built, not read
        return None
    entries = catalogue()
    counts = [entries[key].splits[split].rows for key in ((dataset,) if isinstance(dataset, str) else dataset)]
    return sum(count for count in counts if count) if all(counts) else None
