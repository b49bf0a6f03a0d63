"""Tasks with several prompts in the tables: mean, spread, and models whose rank depends on the wording."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.cli.main import main
from lm_eval_ita.results.answers import NoScoreByDocumentError, answers_of
from lm_eval_ita.results.reader import run_record
from lm_eval_ita.results.records import RunRecord
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.suite import SuiteTable, suite_tables
from lm_eval_ita.results.summary import as_csv, as_json, grids
from lm_eval_ita.results.wordings import Wordings
from tests.results.files import content, write
from tests.results.test_suite import entry

IRONY, ACCEPTABLE = "itaeval_prompts_ironita_irony", "itaeval_prompts_itacola"


def data(model: str, task: str = IRONY, scores: tuple[float, ...] = (0.5, 0.5, 0.5), **changes: Any) -> dict[str, Any]:
    metric = references()[task].metric
    parts = {str(number): {metric: score, "acc": 0.1, "n": 872} for number, score in enumerate(scores, start=1)}
    figures = {"prompts,none": {"by_prompt": parts}, "prompts_stderr,none": "N/A"}
    return content({task: entry(task, sum(scores) / len(scores), figures=figures, **changes)}, model)


def run(*given: Any, **changes: Any) -> RunRecord:
    return run_record(data(*given, **changes), Path("r.json"), details=False)


def table(*runs: RunRecord) -> SuiteTable:
    (found,) = suite_tables(runs, references())
    assert found.suite == "itaeval_prompts"
    return found


def wordings(found: SuiteTable, column: str = "ironita_irony") -> dict[str, Wordings]:
    return {row.label: row.cells[column].wordings for row in found.rows}  # type: ignore[misc]


def test_mean_spread_and_a_rank_that_depends_on_the_wording() -> None:
    found = table(run("a", IRONY, (0.6, 0.4, 0.53)), run("b", IRONY, (0.5, 0.5, 0.5)), run("c", IRONY, (0.9, 0.7, 0.8)))
    cells = {row.label: row.cells["ironita_irony"] for row in found.rows}
    # By the mean: c 0.8, a 0.51, b 0.5. By the second wording alone b is before a.
    assert [(name, round(cell.score or 0, 3), cell.rank) for name, cell in sorted(cells.items())] == [
        ("a", 0.51, 2), ("b", 0.5, 3), ("c", 0.8, 1),
    ]  # fmt: skip
    own = wordings(found)
    assert {name: each.ranks for name, each in own.items()} == {"a": (2, 3, 2), "b": (3, 2, 3), "c": (1, 1, 1)}
    assert {name: each.rank_depends for name, each in own.items()} == {"a": True, "b": True, "c": False}
    assert own["a"].spread == pytest.approx(0.2)
    assert own["b"].spread == 0


def test_what_is_not_comparable_has_no_rank_in_any_wording() -> None:
    odd = run("odd", IRONY, (0.9, 0.1, 0.5), data_dir="sample")
    own = wordings(table(run("a", IRONY, (0.6, 0.4, 0.5)), odd))
    assert own["odd"].ranks == ()
    assert own["a"].ranks == (1, 1, 1)
    assert not own["odd"].rank_depends


def test_documents_count_in_each_wording() -> None:
    assert references()[IRONY].documents == 3 * 872
    (row,) = table(run("a", IRONY, sizes={"original": 872, "effective": 872})).rows
    assert row.cells["ironita_irony"].why_not == ("872 documents, not 2616",)


@given(st.lists(st.tuples(*[st.sampled_from([0.1, 0.2, 0.3, 0.4])] * 3), min_size=1, max_size=5))
def test_ranks_and_spreads_hold_for_any_scores(scores: list[tuple[float, ...]]) -> None:
    own = wordings(table(*(run(f"m{number}", IRONY, each) for number, each in enumerate(scores))))
    for number, each in enumerate(scores):
        found = own[f"m{number}"]
        assert found.spread == pytest.approx(max(each) - min(each))
        expected = tuple(1 + sum(other[i] > each[i] for other in scores) for i in range(3))
        assert found.ranks == expected
        assert found.rank_depends == (len(set(expected)) > 1)
    if len(scores) == 1:
        assert not own["m0"].rank_depends


def test_a_wording_without_a_score() -> None:
    raw = data("a")
    raw["results"][IRONY]["prompts,none"]["by_prompt"]["2"]["f1_macro"] = float("nan")
    raw["results"][IRONY]["prompts,none"]["by_prompt"]["x"] = {"f1_macro": 3.0}
    own = wordings(table(run_record(raw, Path("r.json"))))["a"]
    assert (own.scores, own.spread) == ((0.5, None, 0.5), None)


def test_the_summary_of_a_few_models_and_of_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"a": (0.6, 0.4, 0.53), "b": (0.5, 0.5, 0.5), "c": (0.9, 0.7, 0.8)}
    for name, each in scores.items():
        write(tmp_path / name, data(name, IRONY, each))
    assert main(["summary", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.startswith("ironita_irony"))
    assert line.split()[:3] == ["ironita_irony", "f1_macro", "2616"]
    assert "51.00 (20.00) ~" in line
    assert "50.00 (0.00) ~" in line
    assert "80.00 (20.00)  " in line
    assert "Mean over 3 wordings, in brackets the spread: highest minus lowest." in out
    assert "~ another rank among these models with another wording." in out
    assert "mean  " not in out
    assert "AVG" not in out
    write(tmp_path / "d", data("d", ACCEPTABLE, (0.2, 0.3, 0.1)))
    assert main(["summary", str(tmp_path), "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "| a | " in shown
    assert "20.00 \\(20.00\\)" in shown
    assert "Averages" not in shown


def test_the_mark_is_explained_only_where_it_is() -> None:
    (grid,) = grids(table(run("a", IRONY, (0.6, 0.4, 0.53))))
    assert not [note for note in grid.notes if note.startswith("~")]
    assert [line[3] for line in grid.rows] == ["51.00 (20.00)"]


def test_json_and_csv_hold_it_all() -> None:
    found = table(run("a", IRONY, (0.6, 0.4, 0.5)))
    (suite,) = json.loads(json.dumps(as_json([found])))
    cell = suite["rows"][0]["cells"]["ironita_irony"]
    assert cell["wordings"] == {
        "scores": [0.6, 0.4, 0.5],
        "ranks": [1, 1, 1],
        "spread": pytest.approx(0.2),
        "rank_depends": False,
    }
    head, line = as_csv([found]).splitlines()
    assert dict(zip(head.split(","), line.split(","), strict=True))["ironita_irony"] == "0.5"


def test_no_pairing_by_document() -> None:
    record = run("a").tasks[IRONY]
    with pytest.raises(NoScoreByDocumentError, match="a mean over several prompts"):
        answers_of(record)
