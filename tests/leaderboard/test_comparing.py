"""Differences of models: from the same documents where they are known, from intervals elsewhere."""

import math

import pytest

from lm_eval_ita.leaderboard.board import Board
from lm_eval_ita.leaderboard.comparing import compare_entries
from lm_eval_ita.results.published import published_by_suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission_records import Documents, Submission, TaskDocuments
from tests.leaderboard.boards import briefs, varied, with_documents

Z = 1.959963984540054


def compared(*models: tuple[Submission, Documents | None], printed: bool = False):  # type: ignore[no-untyped-def]
    board = Board(briefs([made for made, _ in models]), references(), published_by_suite() if printed else None)
    table = board.table("itaeval")
    known = {made.submission_id: {} if own is None else own.tasks for made, own in models}
    ids = [*known, *(["paper-llama-3-8b-instr"] if printed else [])]
    entries = [table.entries[table.by_id[each]] for each in ids]
    return {each.key: each for each in compare_entries(entries, table.columns, lambda name: known[name])}


def test_the_same_documents_are_paired() -> None:
    one, two = with_documents(varied("Alfa-7B", 0.6)), with_documents(varied("Beta-7B", 0.7))
    found = compared(one, two)
    own = [documents.tasks["itaeval_xcopa"].values for _, documents in (one, two)]
    steps = [(second or 0) - (first or 0) for first, second in zip(*own, strict=True)]
    n, mean = len(steps), sum(steps) / len(steps)
    # Of a mean, the jackknife's variance of the paired differences is their usual one.
    error = math.sqrt(sum((step - mean) ** 2 for step in steps) / (n - 1) / n)
    difference = found["xcopa"].others[0]
    assert difference.is_paired
    assert difference.value == pytest.approx(mean)
    assert difference.interval == pytest.approx((mean - Z * error, mean + Z * error))
    assert difference.p_value == pytest.approx(math.erfc(abs(mean) / error / math.sqrt(2)))
    other = found["ironita_irony"].others[0].p_value
    assert difference.p_holm == pytest.approx(min(1.0, max(2 * min(difference.p_value, other), difference.p_value)))


def test_other_documents_are_not_paired() -> None:
    one, (made, own) = with_documents(varied("Alfa-7B", 0.6)), with_documents(varied("Beta-7B", 0.7))
    tasks = {name: task.model_copy(update={"documents_sha": "ef" * 32}) for name, task in own.tasks.items()}
    difference = compared(one, (made, own.model_copy(update={"tasks": tasks})))["xcopa"].others[0]
    assert not difference.is_paired
    assert difference.p_value is None
    # Two intervals of ±0.02 taken as independent: ±0.02 * sqrt(2).
    low, high = difference.interval
    assert high - low == pytest.approx(2 * 0.02 * math.sqrt(2))
    assert (low + high) / 2 == pytest.approx(difference.value)


def test_a_few_documents_are_not_tested() -> None:
    one, two = ((made, Documents(submission_id=made.submission_id, tasks={"itaeval_xcopa": few})) for made, few in (
        (varied("Alfa-7B", 0.6), TaskDocuments(documents_sha="ab" * 32, values=(1.0, 0.0) * 10)),
        (varied("Beta-7B", 0.7), TaskDocuments(documents_sha="ab" * 32, values=(1.0, 1.0) * 10)),
    ))  # fmt: skip
    assert not compared(one, two)["xcopa"].others[0].is_paired


def test_a_model_beside_itself_differs_in_nothing() -> None:
    made, own = with_documents(varied("Alfa-7B", 0.6))
    again = made.model_copy(update={"submission_id": "1" * 16})
    for comparison in compared((made, own), (again, own)).values():
        difference = comparison.others[0]
        assert difference.value == 0
        assert not difference.is_significant
    paired = compared((made, own), (again, own))["xcopa"].others[0]
    assert paired.interval == (0, 0)
    assert paired.p_value == 1


def test_what_is_known_to_be_wrong_is_not_compared() -> None:
    found = compared((varied("Alfa-7B", 0.6), None), printed=True)
    honest, xcopa, average = (found[key].others[0] for key in ("honest", "xcopa", "avg"))
    assert (honest.score, honest.value) == (1.0, None)
    assert (average.score, average.value) == (pytest.approx(0.5998), None)
    assert xcopa.value is not None
    assert xcopa.interval is None, "nothing is known of the printed figure"


def test_tasks_that_only_one_model_has_are_left_out() -> None:
    found = compared(
        (varied("Alfa-7B", 0.6, ("itaeval_xcopa", "itaeval_honest")), None),
        (varied("Beta-7B", 0.7, ("itaeval_xcopa",)), None),
    )
    assert set(found) == {"xcopa"}


def test_of_one_model_nothing_is_said() -> None:
    assert compared((varied("Alfa-7B", 0.6), None)) == {}
