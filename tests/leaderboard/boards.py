"""Submissions by the dozen: models with figures of their own, some with figures by document."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.leaderboard.brief import Brief, brief_of
from lm_eval_ita.leaderboard.store import SubmissionStore, open_store
from lm_eval_ita.results.answers import statistic_of
from lm_eval_ita.results.documents import answers_from
from lm_eval_ita.results.reference import document_count, references
from lm_eval_ita.results.submission_records import Documents, Submission, TaskDocuments, documents_hash, with_id
from lm_eval_ita.stats.resampling import value_of
from tests.leaderboard.submissions import ITAEVAL, interval, submission, task

# A few tests: each takes a second to make.
BIAS = ("itapat_gender_6", "itapat_gender_7", "itapat_age_10", "itapat_oneshot_gender_6")
BY_DOCUMENT = ("itaeval_xcopa", "itaeval_ironita_irony")


def varied(name: str, level: float, tasks: Sequence[str] = ITAEVAL, **changes: Any) -> Submission:
    """A model whose scores lie around a level, others on every task."""
    rng = random.Random(name)
    made = submission(f"org/{name}", 0.5, (), display_name=name, **changes)
    records = {each: task(each, min(0.95, max(0.05, level + rng.uniform(-0.12, 0.12)))) for each in tasks}
    half = rng.uniform(0.005, 0.02)
    intervals = {
        each: interval(record) if record.suite == "itapat" else ((record.score or 0) - half, (record.score or 0) + half)
        for each, record in records.items()
    }
    identity = made.run.model.model_copy(update={"parameters": made.facts.parameters})
    run = made.run.model_copy(update={"tasks": records, "model": identity})
    return with_id(made.model_copy(update={"run": run, "intervals": intervals}))


def with_documents(made: Submission, names: Sequence[str] = BY_DOCUMENT) -> tuple[Submission, Documents]:
    """The submission with figures by document for some tasks, and their scores made from these."""
    rng = random.Random(made.submission_id)
    tasks, records, intervals = {}, dict(made.run.tasks), dict(made.intervals)
    for name in names:
        record, count = records[name], document_count(references()[name]) or 0
        right = [rng.random() < (record.score or 0) for _ in range(count)]
        golds = tuple(i % 2 for i in range(count))
        if record.primary_metric == "f1_macro":
            chosen = tuple(gold if own else 1 - gold for gold, own in zip(golds, right, strict=True))
            tasks[name] = TaskDocuments(documents_sha="ab" * 32, golds=golds, chosen=chosen, labels=2)
        else:
            tasks[name] = TaskDocuments(documents_sha="cd" * 32, values=tuple(map(float, right)))
        score = value_of(statistic_of(record, list(answers_from(name, tasks[name]).values.values())))
        metrics = record.metrics | {"score": score, record.primary_metric or "": score, "acc": sum(right) / count}
        records[name] = record.model_copy(update={"score": score, "primary_value": score, "metrics": metrics})
        intervals[name] = (score - 0.02, score + 0.02)
    run = made.run.model_copy(update={"tasks": records})
    documents = Documents(submission_id="0" * 16, tasks=tasks)
    changes = {"run": run, "intervals": intervals, "documents_sha": documents_hash(documents)}
    whole = with_id(made.model_copy(update=changes))
    return whole, documents.model_copy(update={"submission_id": whole.submission_id})


def some() -> list[Submission]:
    """Five models: three whole ones, one with three tasks, one with ItaP-AT too."""
    return [
        varied("Alfa-7B", 0.62),
        varied("Beta-13B-Instruct", 0.66, parameters=13_000_000_000, kind="chat", licence="gemma"),
        varied("Gamma-350M", 0.36, parameters=350_000_000, licence="mit", organisation="Ente di Ricerca"),
        varied("Delta-3B", 0.9, ("itaeval_xcopa", "itaeval_belebele", "itaeval_itacola"), parameters=3_000_000_000),
        varied("Epsilon-9B", 0.64, (*ITAEVAL, *BIAS), parameters=9_000_000_000, kind="chat"),
    ]


def briefs(submissions: Sequence[Submission]) -> list[Brief]:
    """What a board is made of."""
    return [brief_of(each, references()) for each in submissions]


def filled(folder: Path) -> tuple[SubmissionStore, dict[str, str]]:
    """A store with the five models, two of them with figures by document; and their ids by name."""
    store = open_store(folder)
    assert isinstance(store, SubmissionStore)
    ids = {}
    for made in some():
        name = made.facts.display_name
        if name in ("Alfa-7B", "Beta-13B-Instruct"):
            ids[name] = store.add(*with_documents(made))
        else:
            ids[name] = store.add(made)
    return store, ids
