import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.itapat.suite import load_tests
from lm_eval_ita.results.published import published, published_instructions, published_rows
from lm_eval_ita.results.reader import run_record
from lm_eval_ita.results.records import RunRecord
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.suite import SuiteTable, columns_of, ranks, suite_tables
from tests.conftest import PAPERS
from tests.results.files import content, old_task, task

REFERENCES = references()
SUITE = [reference for reference in REFERENCES.values() if reference.suite == "itaeval"]


def entry(name: str, score: Any, **changes: Any) -> dict[str, Any]:
    """A whole, comparable figure of a task."""
    reference = REFERENCES[name]
    config = {"num_fewshot": reference.shots}
    card = {"suite": reference.suite, "category": reference.category, **changes}
    return task(score, metric=reference.metric, n=reference.documents or 10_000, config=config, **card)


def run(model: str, scores: dict[str, Any], **changes: Any) -> RunRecord:
    return run_record(
        content({name: entry(name, value, **changes) for name, value in scores.items()}, model), Path("r.json")
    )


def full(model: str, score: float, **changes: Any) -> RunRecord:
    return run(model, {reference.task: score for reference in SUITE}, **changes)


def itaeval(*runs: RunRecord) -> SuiteTable:
    return suite_tables(runs, REFERENCES)[0]


def test_eighteen_columns_in_three_categories() -> None:
    for suite in ("itaeval", "itaeval_v1"):
        columns = columns_of(suite, REFERENCES)
        assert [column.category for column in columns] == ["nlu"] * 6 + ["cfk"] * 5 + ["bfs"] * 7
    assert {column.name for column in columns_of("itaeval", REFERENCES)} == {column.name for column in columns}
    assert len(columns_of("itapat", REFERENCES)) == 32


def test_the_average_is_that_of_the_categories_not_of_the_tasks() -> None:
    by_category = {"nlu": 0.3, "cfk": 0.6, "bfs": 0.9}
    (row,) = itaeval(run("m", {reference.task: by_category[reference.category] for reference in SUITE})).rows
    assert {name: mean.value for name, mean in row.means.items()} == pytest.approx(by_category)
    assert row.average is not None
    assert row.average.value == pytest.approx(
        0.6
    )  # over the 18 tasks it would be (6 * 0.3 + 5 * 0.6 + 7 * 0.9) / 18 = 0.617
    assert (row.average.k, row.average.n, row.average.rank) == (18, 18, 1)


def test_no_average_over_a_part_of_the_suite() -> None:
    scores: dict[str, Any] = {reference.task: 0.5 for reference in SUITE}
    scores["itaeval_gente"] = float("nan")  # its scorer was skipped
    (row,) = itaeval(run("m", scores)).rows
    assert row.average is not None
    assert (row.average.value, row.average.k, row.average.rank) == (None, 17, None)
    assert (row.means["bfs"].value, row.means["bfs"].k, row.means["nlu"].value) == (None, 6, 0.5)


def test_one_good_task_is_not_ranked_above_the_whole_suite() -> None:
    """Field report 17."""
    table = itaeval(run("Y", {"itaeval_xcopa": 0.9}), full("X", 0.5))
    assert [row.label for row in table.rows] == ["X", "Y"]
    assert [row.average.rank for row in table.rows if row.average] == [1, None]
    assert [row.cells["xcopa"].rank for row in table.rows] == [2, 1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"data_dir": "sample"}, "sample data"),
        ({"sizes": {"effective": 10}}, "only 10 of 500 documents"),
        ({"sizes": {"original": 5, "effective": 5}}, "5 documents, not 500"),
        ({"version": 0.9}, "task version 0.9, not 1.0"),
    ],
)
def test_what_is_not_comparable_has_no_rank(changes: dict[str, Any], reason: str) -> None:
    odd = run("odd", {"itaeval_xcopa": 0.9}, **changes)
    table = itaeval(odd, run("good", {"itaeval_xcopa": 0.5}))
    cells = {row.label: row.cells["xcopa"] for row in table.rows}
    assert (cells["odd"].why_not, cells["odd"].rank, cells["good"].rank) == ((reason,), None, 1)
    assert cells["odd"].score == 0.9


def test_other_shots_are_not_comparable() -> None:
    data = content({"itaeval_xcopa": entry("itaeval_xcopa", 0.5)})
    data["n-shot"]["itaeval_xcopa"] = 3
    (row,) = itaeval(run_record(data, Path("r.json"))).rows
    assert row.cells["xcopa"].why_not == ("3 shots, not 0",)


def test_a_whole_run_on_sample_data_has_an_average_and_no_rank() -> None:
    table = itaeval(full("sample", 0.9, data_dir="sample"), full("real", 0.5))
    assert [(row.label, row.average.value, row.average.rank) for row in table.rows if row.average] == [
        ("real", 0.5, 1),
        ("sample", pytest.approx(0.9), None),
    ]


def test_itapat_is_a_table_of_its_own() -> None:
    runs = [full("m", 0.5), run("m", {"itapat_gender_6": -0.25})]
    first, second = suite_tables(runs, REFERENCES)
    assert (first.suite, second.suite) == ("itaeval", "itapat")
    assert first.rows[0].average is not None
    assert first.rows[0].average.value == 0.5
    (row,) = second.rows
    assert (row.cells["gender_6"].score, row.cells["gender_6"].rank, row.average, row.means) == (-0.25, None, None, {})


def test_own_word_lists_are_not_comparable() -> None:
    (table,) = suite_tables([run("m", {"itapat_gender_6": 0.1}, itapat_lists="my.yaml")], REFERENCES)
    assert table.rows[0].cells["gender_6"].why_not == ("own itapat_lists",)


def test_runs_of_one_model_are_one_row_and_other_settings_another() -> None:
    runs = [run("org/m", {"itaeval_xcopa": 0.5}), run("org/m", {"itaeval_hellaswag": 0.4})]
    other = run("org/m", {"itaeval_xcopa": 0.6})
    chat = other.model_copy(update={"model": other.model.model_copy(update={"chat_template_sha": "abcdef12"})})
    table = itaeval(*runs, chat)
    assert {row.label: len(row.cells) for row in table.rows} == {
        "org/m (no chat template)": 2,
        "org/m (chat template abcdef)": 1,
    }


def test_paths_are_shown_by_their_last_folder_unless_that_is_ambiguous() -> None:
    labels = [
        row.label for row in itaeval(run("/a/b/m", {"itaeval_xcopa": 0.5}), run("/a/c/n", {"itaeval_xcopa": 0.4})).rows
    ]
    assert labels == ["m", "n"]
    labels = [
        row.label for row in itaeval(run("/a/b/m", {"itaeval_xcopa": 0.5}), run("/a/c/m", {"itaeval_xcopa": 0.4})).rows
    ]
    assert labels == ["/a/b/m", "/a/c/m"]


def test_published_news_summarisation_is_one_column() -> None:
    both = {
        "news_sum_ilpost": old_task(**{"bertscore,none": 0.3}),
        "news_sum_fanpage": old_task(**{"bertscore,none": 0.4}),
    }
    for part in both.values():
        part["config"]["num_fewshot"] = 1
    (table,) = suite_tables([run_record(content(both), Path("r.json"))], REFERENCES)
    assert table.suite == "itaeval_v1"
    assert table.rows[0].cells["news_sum"].score == pytest.approx(0.35)
    del both["news_sum_fanpage"]
    (table,) = suite_tables([run_record(content(both), Path("r.json"))], REFERENCES)
    cell = table.rows[0].cells["news_sum"]
    assert (cell.score, cell.why_not) == (None, ("only news_sum_ilpost",))


@given(st.lists(st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=12))
def test_ranks(values: list[float | None]) -> None:
    found = ranks(values)
    for value, rank in zip(values, found, strict=True):
        better = sum(other is not None and value is not None and other > value for other in values)
        assert rank == (None if value is None else better + 1)


class TestPublished:
    models = published()["itaeval"].models

    def test_every_cell_is_there_with_its_source(self) -> None:
        names = {column.name for column in columns_of("itaeval_v1", REFERENCES)} - {"hellaswag"}
        assert len(self.models) == 17
        assert all(set(model.cells) == names and model.hf_id for model in self.models)
        tests = {column.name for column in columns_of("itapat", REFERENCES)}
        assert [set(model.cells) for model in published()["itapat"].models] == [tests] * 5

    def test_the_known_defects_are_in_the_figures(self) -> None:
        for model in self.models:
            cells = model.cells
            assert cells["sentipolc"].printed == cells["xcopa"].printed
            assert cells["honest"].printed == 100
            assert {name for name, cell in cells.items() if cell.defect} == {"sentipolc", "honest"}
            assert model.average is not None
            assert all(cell.defect for cell in (*model.means.values(), model.average))

    @pytest.mark.parametrize("category", ["nlu", "cfk", "bfs"])
    def test_the_printed_averages_follow_from_the_cells(self, category: str) -> None:
        columns = [column.name for column in columns_of("itaeval_v1", REFERENCES) if column.category == category]
        for model in self.models:
            printed = [model.cells[name].printed for name in columns if name in model.cells]
            if category == "nlu" and model.name in ("Minerva-3B", "Minerva-350M"):
                printed.remove(model.cells["itacola"].printed)  # and divided by five
                assert "divided by 5" in (model.means["nlu"].defect or "")
            assert sum(printed) / len(printed) == pytest.approx(model.means[category].printed, abs=0.0051)

    def test_defective_cells_are_never_ranked(self) -> None:
        ours = {reference.task: 0.01 for reference in REFERENCES.values() if reference.suite == "itaeval_v1"}
        columns = {"itaeval_v1": columns_of("itaeval_v1", REFERENCES), "itaeval": columns_of("itaeval", REFERENCES)}
        runs = [run("mine", ours, suite="itaeval_v1"), full("mine", 0.01)]
        itaeval, v1 = suite_tables(runs, REFERENCES, published_rows(columns))  # type: ignore[arg-type]
        by_label = {row.label: row for row in v1.rows}
        mine, llama = by_label["mine"], by_label["Llama-3-8B-Instr"]
        assert (mine.cells["sentipolc"].rank, mine.cells["honest"].rank) == (1, 1)
        assert (mine.cells["xcopa"].rank, llama.cells["belebele"].rank) == (18, 1)
        assert (mine.average.rank if mine.average else 0) == 1
        printed = [row for row in v1.rows if row.published]
        assert len(printed) == 17
        assert not [
            row
            for row in printed
            if row.average is None or row.average.rank or any(mean.rank for mean in row.means.values())
        ]
        assert llama.cells["itacola"].score == 0.26
        assert llama.cells["belebele"].score == pytest.approx(0.82)
        # In the table of our own configuration, none of them has a rank.
        assert not [cell for row in itaeval.rows if row.published for cell in row.cells.values() if cell.rank]

    def test_itapat_cells_are_the_papers(self, papers: list[dict[str, Any]]) -> None:
        for table, prefix in (("2", ""), ("8", "oneshot_")):
            rows = [row for row in papers if row["table"] == table]
            assert len(rows) == 80
            for row in rows:
                (model,) = [model for model in published()["itapat"].models if model.name == row["model"]]
                cell = model.cells[f"{prefix}{row['subdataset']}_{row['task']}"]
                assert (cell.printed, cell.stars, list(cell.rates or ())) == (row["score"], row["stars"], row["probs"])
                assert cell.source == f"Table {table}"

    def test_itapat_by_instruction_is_the_papers(self, papers: list[dict[str, Any]]) -> None:
        printed = [row for row in papers if row["table"] == "B" and row["instruction"] != "Aggregated"]
        anomalies = json.loads((PAPERS / "itapat_star_anomalies.json").read_text(encoding="utf-8"))
        key = ("subdataset", "task", "model", "instruction")
        wrong = {tuple(row[name] for name in key): row["stars_possible"] for row in anomalies}
        rows = {row.label: row for row in published_rows({"itapat": columns_of("itapat", REFERENCES)})["itapat"]}
        shown = {
            (*name.split("_"), row.label, part.instruction): part
            for row in rows.values()
            for name, cell in row.cells.items()
            for part in cell.instructions
        }
        assert len(printed) == len(shown) == 400
        for row in printed:
            part = shown[tuple(row[name] for name in key)]
            assert (part.score, part.stars, list(part.rates)) == (row["score"], row["stars"], row["probs"])
            assert (part.source or "").endswith(", Appendix B")
        # The printed stars that their own counts rule out, and no others.
        assert {where for where, part in shown.items() if part.defect} == set(wrong)
        assert len(wrong) == 94
        for where, possible in wrong.items():
            named = {"no star": 0, "*": 1, "**": 2}
            said = (shown[where].defect or "").split(" give ")[1].split(" or ")
            assert [named[word] for word in said] == possible

    def test_the_aggregated_rows_are_those_of_table_2(self, papers: list[dict[str, Any]]) -> None:
        """So they are not kept twice."""
        key = ("subdataset", "task", "model", "score", "stars")
        aggregated = [row for row in papers if row["table"] == "B" and row["instruction"] == "Aggregated"]
        table_2 = [row for row in papers if row["table"] == "2"]
        assert sorted([row[name] for name in key] + row["probs"] for row in aggregated) == sorted(
            [row[name] for name in key] + row["probs"] for row in table_2
        )

    def test_itapat_by_instruction_names_the_suites_own_instructions(self) -> None:
        for test in load_tests():
            assert published_instructions().instructions[test.name] == tuple(part.text for part in test.instructions)

    def test_printed_instructions_that_could_not_be_done(self) -> None:
        rows = published_rows({"itapat": columns_of("itapat", REFERENCES)})["itapat"]
        unable = {
            (row.label, name, number): part.rates
            for row in rows
            for name, cell in row.cells.items()
            for number, part in enumerate(cell.instructions, start=1)
            if part.unable
        }
        assert 0 < len(unable) < 400
        for one, two, _, error in unable.values():
            assert (error or 0) > 0.5 or (one == 0) != (two == 0)
