"""What a task with several prompts scores in each of them, and whether a model's rank depends on the wording. Pure."""

from dataclasses import dataclass

from lm_eval_ita.results.records import TaskRecord

__all__ = ["Wordings", "wordings_of"]


@dataclass(frozen=True)
class Wordings:
    """The scores of one model in the wordings of one task.

    Attributes:
        scores: The primary metric in each wording, in the order of the card; None where missing.
        ranks: Of the model among comparable ones, in each wording, from 1; empty where it has none.
    """

    scores: tuple[float | None, ...]
    ranks: tuple[int | None, ...] = ()

    @property
    def spread(self) -> float | None:
        """Highest minus lowest score; None where a wording has none."""
        known = [score for score in self.scores if score is not None]
        return max(known) - min(known) if known and len(known) == len(self.scores) else None

    @property
    def rank_depends(self) -> bool:
        """Whether another wording gives the model another rank."""
        return len(set(self.ranks)) > 1


def wordings_of(record: TaskRecord) -> Wordings | None:
    """The wordings of a task; None for a task with one prompt."""
    if not record.prompts or record.primary_metric is None:
        return None
    ordered = sorted(record.prompts.items(), key=lambda part: int(part[0]))
    return Wordings(tuple(figures.get(record.primary_metric) for _, figures in ordered))
