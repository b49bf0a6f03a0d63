"""What waits for a maintainer's decision, as a maintainer reads it in a terminal, and the decision."""

from collections.abc import Mapping, Sequence

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.store import Store
from lm_eval_ita.results.grid import Grid, displayed, plain
from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.results.submission_records import Submission

__all__ = ["approve", "listed", "reject", "shown"]


def listed(store: Store) -> str:
    """A table of all that waits, the oldest first."""
    waiting = store.pending()
    if not waiting:
        return "nothing is waiting"
    rows = tuple(
        (
            submission.submission_id,
            displayed(submission.facts.display_name, 40),
            f"{submission.facts.parameters / 1e9:.3g}B {submission.facts.kind}",
            str(len(submission.run.tasks)),
            f"{submission.submitted:%Y-%m-%d %H:%M}",
            "" if (replaced := _replaced(store, submission)) is None else replaced.submission_id,
        )
        for submission in waiting
    )
    notes = ("Times are UTC. One with its figures: lm-eval-ita leaderboard pending ID",)
    return plain(Grid("Waiting", ("Id", "Model", "Size", "Tasks", "Since", "Replaces"), rows, notes, left=3))


def shown(store: Store, submission_id: str) -> str:
    """One submission that waits: the facts, and its figures beside those that it would replace.

    Raises:
        UserError: It does not wait.
    """
    submission = next((own for own in store.pending() if own.submission_id == submission_id), None)
    if submission is None:
        raise UserError(f"no submission {submission_id[:40]!r} is waiting")
    replaced = _replaced(store, submission)
    model = submission.run.model.model_dump(exclude={"name", "parameters"})
    told = {
        **dict(submission.facts),
        "evaluated as": submission.run.model.name,
        "counted by the harness": submission.run.model.parameters,
        **model,
    }
    rows = tuple((name.replace("_", " "), _text(value)) for name, value in told.items() if value is not None)
    facts = Grid(submission.submission_id, ("Fact", ""), rows, left=2)
    return f"{plain(facts)}\n\n{plain(_figures(submission, replaced))}"


def approve(store: Store, submission_ids: Sequence[str]) -> list[str]:
    """Show what waits; one line for each, in order.

    Raises:
        UserError: One of them does not wait, or may not replace what it would; those before it are approved.
    """
    lines = []
    for submission_id in submission_ids:
        store.approve(submission_id)
        lines.append(f"approved: {submission_id}")
    return lines


def reject(store: Store, submission_id: str, reason: str) -> str:
    """Do not show what waits.

    Raises:
        UserError: It does not wait, or there is no reason.
    """
    store.reject(submission_id, reason)
    return f"rejected: {submission_id}"


def _replaced(store: Store, submission: Submission) -> Submission | None:
    return next((brief.read() for brief in store.current() if brief.key == submission.key), None)


def _figures(submission: Submission, replaced: Submission | None) -> Grid:
    before: Mapping[str, TaskRecord] = {} if replaced is None else replaced.run.tasks
    rows = []
    for name, record in submission.run.tasks.items():
        low, high = submission.intervals.get(name, (None, None))
        interval = "n/a" if low is None or high is None else f"{low:.4f} {high:.4f}"
        row = (name, record.primary_metric or "", _figure(record), interval)
        rows.append(row if replaced is None else (*row, _figure(before[name]) if name in before else "new"))
    header = ("Task", "Metric", "Score", "95% interval") + (() if replaced is None else ("Before",))
    title = "Figures" if replaced is None else f"Figures, replacing {replaced.submission_id}"
    return Grid(title, header, tuple(rows), left=2)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _figure(record: TaskRecord) -> str:
    value = record.primary_value if record.suite == "itapat" else record.score
    return "n/a" if value is None else f"{value:.4f}"
