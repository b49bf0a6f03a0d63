"""Two runs of the same tasks, document by document: is one better?

Per task the difference of the primary metric, its interval from a paired bootstrap (by target word for ItaP-AT) and a
paired p-value: McNemar's exact test where each document is right or wrong, else a test that exchanges the two runs'
answers (word by word for ItaP-AT).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from lm_eval_ita.errors import UserError
from lm_eval_ita.results._paired import Pair, paired
from lm_eval_ita.results.answers import NoScoreByDocumentError, answers_of
from lm_eval_ita.results.grid import displayed
from lm_eval_ita.results.labels import model_labels
from lm_eval_ita.results.records import RunRecord, TaskRecord
from lm_eval_ita.stats.multiplicity import holm
from lm_eval_ita.stats.paired import mcnemar, paired_bootstrap, permutation_test

__all__ = ["Compared", "Comparison", "Test", "compare", "interval_and_p", "one_model"]

Test = Literal["McNemar", "permutation", "permutation by word", "none"]


@dataclass(frozen=True)
class Compared:
    """One task of two runs.

    Attributes:
        task: Its name.
        suite: None for a task that is not ours.
        metric: The primary metric; the score is compared, turned so that higher is better but for ItaP-AT.
        n: Documents.
        first, second: A's and B's score.
        difference: B - A.
        low, high: 95% interval of the difference; None where there are too few documents or words.
        p_value: Two-sided; None where there is none.
        p_holm: The same, adjusted over all tasks compared (Holm).
        test: Which test; "none" for the metrics of scorer models, whose values by document are not in the samples.
        equal: Whether the two runs score every document alike.
        words: ItaP-AT: (side, word) to A's and B's bias score over its answers.
    """

    task: str
    suite: str | None
    metric: str
    n: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_holm: float | None = None
    test: Test = "none"
    equal: bool = False
    words: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Two runs.

    Attributes:
        tasks: Those that could be compared, in A's order.
        refused: Task to what differs.
        only_first, only_second: Tasks that one of the two lacks.
    """

    tasks: tuple[Compared, ...]
    refused: Mapping[str, str]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def one_model(runs: Sequence[RunRecord], where: str) -> dict[str, TaskRecord]:
    """The tasks of one model's runs, which may lie in several files.

    Raises:
        UserError: There is no run, or there are runs of several models.
    """
    models = {run.model.key: run.model for run in runs}
    if not models:
        raise UserError("holds no run", file=where)
    if len(models) > 1:
        names = ", ".join(displayed(label, 60) for label in model_labels(list(models.values()))[:3])
        raise UserError(
            f"holds runs of {len(models)} models or ways to use one ({names}); name a file or folder of one", file=where
        )
    return {record.task: record for run in runs for record in run.tasks.values()}


def compare(
    first: Mapping[str, TaskRecord], second: Mapping[str, TaskRecord], *, resamples: int = 10_000
) -> Comparison:
    """Compare the tasks that two runs share.

    Args:
        first, second: A's and B's tasks by name.
        resamples: Of the bootstrap and of the drawn exchanges.

    Returns:
        The comparison. A task whose version, shots or documents differ is refused, and the rest goes on.
    """
    done: list[Compared] = []
    refused: dict[str, str] = {}
    for name, record in first.items():
        if name not in second:
            continue
        if differing := _differing(record, second[name]):
            refused[name] = differing
            continue
        try:
            done.append(_compared(name, record, second[name], resamples))
        except UserError as error:
            refused[name] = str(error)
    adjusted = holm([math.nan if task.p_value is None else task.p_value for task in done])
    return Comparison(
        tasks=tuple(replace(task, p_holm=_known(p)) for task, p in zip(done, adjusted, strict=True)),
        refused=refused,
        only_first=tuple(name for name in first if name not in second),
        only_second=tuple(name for name in second if name not in first),
    )


def _differing(first: TaskRecord, second: TaskRecord) -> str:
    """What must be the same and is not."""
    settings = {
        "task version": (first.version, second.version),
        "shots": (first.shots, second.shots),
        "metric": (first.primary_metric, second.primary_metric),
        "data": (first.data, second.data) if "sample" in (first.data, second.data) else (None, None),
        "documents": (first.n_evaluated, second.n_evaluated),
    }
    return ", ".join(f"different {name}: {one} in A, {two} in B" for name, (one, two) in settings.items() if one != two)


def _compared(name: str, first: TaskRecord, second: TaskRecord, resamples: int) -> Compared:
    itapat = first.suite == "itapat"
    one, two = (record.primary_value if itapat else record.score for record in (first, second))
    answers = answers_of(first), answers_of(second)
    found = Compared(
        task=name,
        suite=first.suite,
        metric=first.primary_metric or "",
        n=len(answers[0].values),
        first=one,
        second=two,
        difference=None if one is None or two is None else two - one,
    )
    try:
        pair = paired(first, *answers)
    except NoScoreByDocumentError:
        return found
    difference, low, high, p_value, test = interval_and_p(pair, resamples)
    whole = None not in pair.first_values and None not in pair.second_values
    if whole and None not in (difference, found.difference):
        _check_agreement(difference, found.difference)
    return replace(
        found,
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        test=test,
        equal=pair.equal,
        words=_words(pair),
    )


def _check_agreement(of_samples: float | None, of_files: float | None) -> None:
    if not math.isclose(of_samples or 0.0, of_files or 0.0, abs_tol=1e-6):
        raise UserError("the scores in the files are not those of their samples: were they rescored?")


def interval_and_p(pair: Pair, resamples: int) -> tuple[float | None, float | None, float | None, float | None, Test]:
    """Difference (second - first), its 95% interval, a paired p-value, and which test gave it."""
    boot = paired_bootstrap(
        pair.second,
        pair.first,
        clusters=pair.clusters,
        strata=pair.strata,
        # A test of ItaP-AT has few words in each set.
        method="bca" if pair.clusters is None else "expanded",
        resamples=resamples,
    ).difference
    test: Test = "McNemar" if pair.binary else "permutation" if pair.clusters is None else "permutation by word"
    if pair.binary:
        p_value = mcnemar(_numbers(pair.second_values), _numbers(pair.first_values)).p_value
    else:
        p_value = permutation_test(pair.second, pair.first, clusters=pair.clusters, resamples=resamples).p_value
    return _known(boot.estimate), _known(boot.low), _known(boot.high), _known(p_value), test


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _words(pair: Pair) -> dict[tuple[str, str], tuple[float, float]]:
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for word, one, two in zip(pair.clusters or (), pair.first_values, pair.second_values, strict=False):
        if one is not None and two is not None:
            groups.setdefault(word, []).append((one, two))
    return {
        word: (sum(one for one, _ in steps) / len(steps), sum(two for _, two in steps) / len(steps))
        for word, steps in groups.items()
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
