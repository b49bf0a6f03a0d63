"""The board's tables, and what a view shows of them."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from lm_eval_ita.leaderboard.board import Board, Entry, Table
from lm_eval_ita.leaderboard.brief import brief_of
from lm_eval_ita.leaderboard.models import plain, printed_model
from lm_eval_ita.leaderboard.selection import chosen, select, shown_columns
from lm_eval_ita.leaderboard.uncertainty import standard_error
from lm_eval_ita.leaderboard.views import View
from lm_eval_ita.results.published import published_by_suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission_records import Submission, lean
from lm_eval_ita.results.suite import suite_tables
from tests.leaderboard.boards import BIAS, briefs, some, varied
from tests.leaderboard.submissions import ITAEVAL


@pytest.fixture(scope="module")
def submissions() -> list[Submission]:
    return [lean(each) for each in some()]


@pytest.fixture(scope="module")
def board(submissions: list[Submission]) -> Board:
    return Board(briefs(submissions), references(), published_by_suite())


def names(entries: Sequence[Entry]) -> list[str]:
    return [entry.model.name for entry in entries]


def of(table: Table, name: str) -> Entry:
    (found,) = (entry for entry in table.entries if entry.model.name == name)
    return found


def test_the_same_figures_as_in_a_summary(board: Board, submissions: list[Submission]) -> None:
    (summary, _) = suite_tables([each.run for each in submissions], references())
    by_name = {row.model.name: row for row in summary.rows}
    measured = [entry for entry in board.table("itaeval").entries if not entry.model.printed]
    assert len(measured) == 5
    for entry in measured:
        row = by_name[entry.row.model.name]
        assert entry.row.average is not None
        assert row.average is not None
        assert entry.row.average.value == row.average.value
        assert entry.row.average.k == row.average.k
        assert {name: mean.value for name, mean in entry.row.means.items()} == {
            name: mean.value for name, mean in row.means.items()
        }
        assert {name: cell.score for name, cell in entry.row.cells.items()} == {
            name: cell.score for name, cell in row.cells.items()
        }


def test_complete_models_come_first_by_average_then_printed_ones_then_partial_ones(board: Board) -> None:
    entries = board.table("itaeval").entries
    complete, printed, partial = entries[:4], entries[4:-1], entries[-1:]
    averages = [entry.value("avg") or 0.0 for entry in complete]
    assert averages == sorted(averages, reverse=True)
    assert all(entry.place is not None for entry in complete)
    assert all(entry.model.printed and entry.place is None for entry in printed)
    assert len(printed) == 17
    assert names(partial) == ["Delta-3B"]
    assert partial[0].value("avg") is None
    # 0.9 on three tasks does not rank it above 0.6 on all.
    assert min(score.score or 0 for score in partial[0].row.cells.values()) > max(averages)


def test_itapat_is_in_no_average(board: Board, submissions: list[Submission]) -> None:
    with_bias = of(board.table("itaeval"), "Epsilon-9B")
    assert set(with_bias.row.means) == {"nlu", "cfk", "bfs"}
    assert set(with_bias.row.cells) == {name.removeprefix("itaeval_") for name in ITAEVAL}
    own = next(each for each in submissions if each.facts.display_name == "Epsilon-9B")
    without = own.run.model_copy(update={"tasks": {k: v for k, v in own.run.tasks.items() if k in ITAEVAL}})
    alone = Board(briefs([own.model_copy(update={"run": without})]), references()).table("itaeval").entries[0]
    assert alone.value("avg") == with_bias.value("avg")
    bias = of(board.table("itapat"), "Epsilon-9B")
    assert bias.row.average is None
    assert set(bias.row.cells) == {name.removeprefix("itapat_") for name in BIAS}
    assert bias.place is None


def test_native_averages_are_over_native_tasks(board: Board) -> None:
    table = board.table("itaeval", "native")
    native = {name.removeprefix("itaeval_") for name in ITAEVAL if references()[name].origin == "native"}
    assert {column.name for column in table.columns} == native
    entry = of(table, "Alfa-7B")
    by_category = {
        category: [entry.value(column.name) or math.nan for column in table.columns if column.category == category]
        for category in ("nlu", "bfs")
    }
    means = {category: sum(own) / len(own) for category, own in by_category.items()}
    assert entry.row.means.keys() == means.keys(), "no task of cfk was written in Italian"
    assert entry.value("nlu") == pytest.approx(means["nlu"])
    assert entry.value("avg") == pytest.approx((means["nlu"] + means["bfs"]) / 2)
    # A printed average over these tasks does not exist, and SENTIPOLC's printed figure is another task's.
    printed = of(table, "Llama-3-8B-Instr")
    assert printed.value("avg") is None
    assert printed.value("bfs") == pytest.approx((0.5537 + 0.716 + 0.7054 + 0.6309 + 0.3248) / 5)
    assert printed.value("sentipolc") == pytest.approx(0.718)
    assert printed.doubts("sentipolc")


def test_tasks_with_and_without_examples(board: Board) -> None:
    zero, few = (board.table("itaeval", shots=shots) for shots in ("zero", "few"))  # type: ignore[arg-type]
    parts = [{column.name for column in table.columns} for table in (zero, few)]
    assert parts[0] == {"arc_challenge", "truthfulqa_mc2", "xcopa", "hellaswag", "honest"}
    assert len(parts[1]) == 13
    assert not parts[0] & parts[1]
    assert of(zero, "Alfa-7B").value("avg") != of(few, "Alfa-7B").value("avg")


def test_known_defects_go_with_printed_figures(board: Board) -> None:
    printed = of(board.table("itaeval_v1"), "Llama-3-8B-Instr")
    assert "XCOPA" in " ".join(printed.doubts("sentipolc"))
    assert printed.doubts("honest")
    assert printed.doubts("avg")
    assert not printed.doubts("xcopa"), "in its own configuration the rest is comparable"
    assert of(board.table("itaeval"), "Llama-3-8B-Instr").doubts("xcopa")


def test_a_figure_of_another_version_is_in_no_rank() -> None:
    made = varied("Alfa-7B", 0.6)
    old = made.run.tasks["itaeval_xcopa"].model_copy(update={"version": "0.9"})
    run = made.run.model_copy(update={"tasks": {**made.run.tasks, "itaeval_xcopa": old}})
    entry = Board(briefs([made.model_copy(update={"run": run})]), references()).table("itaeval").entries[0]
    assert entry.value("avg") is not None
    assert entry.place is None
    assert entry.doubts("cfk") == entry.doubts("avg") == ("xcopa: task version 0.9, not 1.0",)
    assert not entry.doubts("nlu")


@pytest.mark.parametrize("descending", [True, False])
def test_missing_figures_come_last_both_ways(board: Board, descending: bool) -> None:
    table = board.table("itaeval")
    ordered = chosen(table, View(sort="hellaswag", descending=descending))
    values = [entry.value("hellaswag") for entry in ordered]
    there = [value for value in values if value is not None]
    assert len(there) == 4
    assert there == sorted(there, reverse=descending)
    assert values[4:] == [None] * 18, "never 0, never first"


@pytest.mark.parametrize("descending", [True, False])
def test_what_is_not_comparable_comes_between_figures_and_gaps(board: Board, descending: bool) -> None:
    ordered = chosen(board.table("itaeval"), View(sort="xcopa", descending=descending))
    kinds = [
        0 if not e.doubts("xcopa") and e.value("xcopa") is not None else 1 if e.value("xcopa") else 2 for e in ordered
    ]
    assert kinds == sorted(kinds)
    assert set(kinds[:5]) == {0}
    printed = [entry.value("xcopa") or 0.0 for entry, kind in zip(ordered, kinds, strict=True) if kind == 1]
    assert printed == sorted(printed, reverse=descending)


@pytest.mark.parametrize("descending", [True, False])
def test_sorting_by_average_leaves_partial_models_below(board: Board, descending: bool) -> None:
    ordered = names(chosen(board.table("itaeval"), View(descending=descending)))
    assert ordered[-1] == "Delta-3B"
    assert set(ordered[:4]) == {"Alfa-7B", "Beta-13B-Instruct", "Gamma-350M", "Epsilon-9B"}
    assert (ordered[0] == "Gamma-350M") is not descending


def test_sorting_by_facts(board: Board) -> None:
    table = board.table("itaeval")
    by_name = names(chosen(table, View(sort="model", descending=False)))
    assert by_name == sorted(by_name, key=str.lower)
    sizes = [entry.model.parameters for entry in chosen(table, View(sort="size", descending=False))]
    assert sizes == sorted(size for size in sizes if size is not None)
    dates = [entry.model.submitted for entry in chosen(table, View(sort="date"))]
    assert dates[5:] == [None] * 17
    assert None not in dates[:5]
    assert names(chosen(table, View(sort="nonsense"))) == names(table.entries)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"kind": "chat", "printed": False}, {"Beta-13B-Instruct", "Epsilon-9B"}),
        ({"smallest": 8, "printed": False}, {"Beta-13B-Instruct", "Epsilon-9B"}),
        ({"largest": 1}, {"Gamma-350M", "Minerva-350M", "Minerva-1B"}),
        ({"smallest": 3, "largest": 3}, {"Delta-3B", "Minerva-3B"}),
        ({"licence": "gemma"}, {"Beta-13B-Instruct"}),
        ({"search": "ricerca"}, {"Gamma-350M"}),
        ({"search": "UNIVERSITA instr", "printed": False}, {"Beta-13B-Instruct"}),
        ({"search": "sapienzanlp/"}, {"Minerva-3B", "Minerva-1B", "Minerva-350M"}),
        ({"search": "nessuno"}, set()),
    ],
)
def test_filters(board: Board, changes: dict[str, Any], expected: set[str]) -> None:
    assert set(names(chosen(board.table("itaeval"), View(**changes)))) == expected


def test_pages(board: Board) -> None:
    table = board.table("itaeval")
    pages = [select(table, View(page=page), size=10) for page in (1, 2, 3, 99)]
    assert [page.page for page in pages] == [1, 2, 3, 3]
    assert [len(page.entries) for page in pages] == [10, 10, 2, 2]
    assert [entry for page in pages[:3] for entry in page.entries] == list(table.entries)
    nothing = select(table, View(search="nessuno"))
    assert (nothing.found, nothing.total, nothing.pages) == (0, 22, 1)


def test_columns_of_a_view(board: Board) -> None:
    columns = board.table("itaeval").columns
    assert shown_columns(columns, View()) == columns
    assert [column.name for column in shown_columns(columns, View(columns=("xcopa", "unknown")))] == ["xcopa"]
    assert shown_columns(columns, View(columns=())) == ()


def test_the_best_of_a_column_is_a_comparable_figure(board: Board) -> None:
    table = board.table("itaeval")
    assert table.best["xcopa"] == max(of(table, each.facts.display_name).value("xcopa") or 0 for each in some())
    assert "avg" not in board.table("itaeval_v1").best, "every printed average is known to be wrong"


@pytest.mark.parametrize("suite", ["itaeval", "itaeval_v1", "itapat"])
@pytest.mark.parametrize(("origin", "shots"), [("", ""), ("native", ""), ("", "zero"), ("native", "few")])
def test_arrays_say_what_the_rows_say(board: Board, suite: Any, origin: Any, shots: Any) -> None:
    table = board.table(suite, origin, shots)
    figures = table.figures
    categories = () if suite == "itapat" else dict.fromkeys(column.category for column in table.columns)
    assert set(figures.values) >= {column.name for column in table.columns}.union(categories)
    for place, entry in enumerate(table.entries):
        assert table.by_id[entry.model.id] == place
        for key in figures.values:
            value = entry.value(key)
            assert figures.values[key][place] == pytest.approx(math.nan if value is None else value, nan_ok=True)
            assert figures.sound[key][place] == (value is not None and not entry.doubts(key))
        interval = entry.intervals.get("avg")
        error = math.nan if interval is None else standard_error(interval)
        assert math.sqrt(figures.variances[place]) == pytest.approx(error, nan_ok=True)
        assert entry.is_ranked == bool(suite != "itapat" and figures.sound["avg"][place])


def test_rows_are_made_when_they_are_looked_at(submissions: list[Submission]) -> None:
    read: list[str] = []

    def reading(submission: Submission) -> Submission:
        read.append(submission.facts.display_name)
        return submission

    made = [brief_of(each, references(), functools.partial(reading, each)) for each in submissions]
    table = Board(made, references()).table("itaeval")
    first = {model.name for model in table.entries.models[:1]}
    read.clear()
    last = select(table, View(page=4), size=1)
    assert names(last.entries) == ["Gamma-350M"]
    assert read == ["Gamma-350M"]
    assert first == {"Beta-13B-Instruct"}
    assert table.entries[3] is last.entries[0], "and kept"


def test_tied_models_share_their_places() -> None:
    first = varied("Uno", 0.6)
    second = first.model_copy(
        update={"facts": first.facts.model_copy(update={"display_name": "Due"}), "submission_id": "1" * 16}
    )
    third = varied("Tre", 0.4)
    entries = Board(briefs([third, first, second]), references()).table("itaeval").entries
    assert [(entry.model.name, entry.place) for entry in entries] == [("Due", (1, 2)), ("Uno", (1, 2)), ("Tre", (3, 3))]


def test_facts_of_printed_models_come_from_their_names() -> None:
    rows = {row.label: row for row in published_by_suite()["itaeval"]}
    found = {
        name: printed_model(rows[name])
        for name in ("Llama-3-8B-Instr", "LLaMAntino2-7b-c", "Minerva-350M", "Mistral-7B")
    }
    assert [(each.parameters, each.kind) for each in found.values()] == [
        (8_000_000_000, "chat"),
        (7_000_000_000, "chat"),
        (350_000_000, "base"),
        (7_000_000_000, "base"),
    ]
    assert printed_model(replace(rows["Mistral-7B"], label="Modello Italia")).id == "paper-modello-italia"


def test_searching_knows_no_accents() -> None:
    assert plain("PERCHÉ Straße") == "perche strasse"
    assert plain("Perche") == "perche"
