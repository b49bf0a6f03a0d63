"""The task names of the published ItaEval, from `data/old_names.yaml`."""

import functools
from importlib import resources

from pydantic import BaseModel, ConfigDict

__all__ = ["OldTask", "old_tasks"]


class OldTask(BaseModel):
    """What an old task name means.

    Attributes:
        task: The `itaeval_v1_*` task with the same configuration; None for a task outside the suite.
        category: "nlu", "cfk" or "bfs"; None likewise.
        score: The metric behind the published column.
        defect: Why its figure must not be used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str | None
    category: str | None
    score: str | None
    defect: str | None = None


@functools.cache
def old_tasks() -> dict[str, OldTask]:
    """Old name to meaning."""
    import yaml

    from lm_eval_ita._yaml import FastLoader

    text = (resources.files("lm_eval_ita.results") / "data" / "old_names.yaml").read_text(encoding="utf-8")
    return {name: OldTask.model_validate(entry) for name, entry in yaml.load(text, Loader=FastLoader).items()}
