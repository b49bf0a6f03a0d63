"""The tasks outside of the averages: made with `new-task`, asked as the published v1.1 asks, and never averaged."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from lm_eval_ita import catalogue
from lm_eval_ita.authoring.new_task import Asker, Request, new_task
from lm_eval_ita.catalogue import folder
from lm_eval_ita.harness.task_files import TaskLoader, read_task_files
from lm_eval_ita.results.reader import run_record
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission_tasks import setting_problems
from lm_eval_ita.results.suite import suite_tables
from lm_eval_ita.results.summary import grids
from lm_eval_ita.run.needs import task_needs
from tests.harness.scripted import Scripted, evaluate, manager, oracle
from tests.leaderboard.submissions import submission
from tests.results.files import content
from tests.results.test_suite import entry, full

FILES = {file.name: file for file in read_task_files()}
ARC, MMMLU = "itaeval_extra_arc_easy", "itaeval_extra_mmmlu"
SAMPLE = {"data_dir": "sample"}
ARC_PROMPT = "Domanda: Quale parte della pianta assorbe l'acqua dal terreno?\nRisposta:"
MMMLU_PROMPT = (
    "Qual è la derivata di 3x² + 2x rispetto a x?\nA. 6x + 2\nB. 3x + 2\nC. 6x\nD. x³ + x²\nRisposta:"
)  # fmt: skip


def request(name: str, into: Path) -> Request:
    options = {ARC: {"question": "question", "choices": "choices.text", "label": "answerKey"},
               MMMLU: {"question": "Question", "choices": "A,B,C,D", "label": "Answer"}}[name]  # fmt: skip
    card = FILES[name].card
    assert card is not None
    return Request(
        name="prova", kind="multiple_choice", data=str(folder.samples() / str(card.dataset) / "test.jsonl"), into=into,
        shots=0, origin=card.origin, paper=card.paper, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "edited"), [(ARC, set()), (MMMLU, {"doc_to_text", "doc_to_choice"})], ids=["arc_easy", "mmmlu"]
)
def test_the_tool_makes_them_but_for_what_was_edited(name: str, edited: set[str], tmp_path: Path) -> None:
    made = new_task(request(name, tmp_path), Asker())
    file = yaml.load(made.files[-1].read_text(encoding="utf-8"), Loader=TaskLoader)
    ours = FILES[name].config
    assert made.checked.findings == ()
    differing = {key for key in ours.keys() | file.keys() if ours.get(key) != file.get(key)}
    assert differing == {"task", "metadata", *edited}
    columns = file["metadata"]["columns"]
    # Where letters are compared, the options are no choices.
    letters = {"key": columns["key"], "labels": list("ABCD"), "label": columns["label"]}
    assert ours["metadata"]["columns"] == (letters if "doc_to_choice" in edited else columns)
    assert ours["metadata"]["splits"] == file["metadata"]["splits"]


@pytest.mark.parametrize(("name", "prompt", "choices"), [
    (ARC, ARC_PROMPT, [" i petali", " le radici", " le foglie", " i frutti"]),
    (MMMLU, MMMLU_PROMPT, [" A", " B", " C", " D"]),
])  # fmt: skip
def test_asked_as_published(name: str, prompt: str, choices: list[str]) -> None:
    model = Scripted(oracle)
    results = evaluate(model, [name], SAMPLE)
    first = [request.args for request in model.requests if request.doc_id == 0]
    assert first == [(prompt, choice) for choice in choices]
    assert results["results"][name]["score,none"] == 1
    assert results["n-samples"][name]["effective"] == 10


def test_wrong_and_unranked_answers() -> None:
    worst = evaluate(Scripted(lambda request: -1001.0 - oracle(request)), [ARC, MMMLU], SAMPLE)["results"]
    lost = evaluate(Scripted(lambda _: math.nan), [ARC, MMMLU], SAMPLE)["results"]
    for name in (ARC, MMMLU):
        assert worst[name]["score,none"] == lost[name]["score,none"] == 0
        assert (worst[name]["invalid,none"], lost[name]["invalid,none"]) == (0, 1)


def test_the_group_has_no_score_of_its_own() -> None:
    results = evaluate(Scripted(oracle), ["itaeval_extra"], SAMPLE)["results"]
    assert set(results) == {"itaeval_extra", ARC, MMMLU}
    assert "score,none" not in results["itaeval_extra"]


def test_letters_and_numbers_name_the_options() -> None:
    docs = manager(SAMPLE).load([ARC])["tasks"][ARC].eval_docs
    by_number = [doc for doc in docs if doc["answerKey"].isdigit()]
    assert len(by_number) == 2
    for doc in docs:
        assert doc["options"][doc["label"]] == doc["choices"]["text"][doc["choices"]["label"].index(doc["answerKey"])]


HUB_CSV = ',Question,A,B,C,D,Answer,Subject\n0,"Quanto fa 2 + 2?",4,None,NA,,A,elementary_mathematics\n'


def test_mmmlu_as_the_hub_has_it(tmp_path: Path) -> None:
    """A nameless first column, numbers and "NA" among the options, and a blank one."""
    (tmp_path / "mmmlu").mkdir()
    (tmp_path / "mmmlu" / "test.csv").write_text(HUB_CSV, encoding="utf-8")
    model = Scripted(oracle)
    evaluate(model, [MMMLU], {"data_dir": str(tmp_path)})
    assert model.requests[0].args[0] == "Quanto fa 2 + 2?\nA. 4\nB. None\nC. NA\nD. \nRisposta:"
    # Rows that pandas wrote hold numbers.
    (tmp_path / "mmmlu" / "test.csv").unlink()
    row = {"Question": "Quanto fa 2 + 2?", "A": 4, "B": 5, "C": 6, "D": 7.5, "Answer": "A"}
    (tmp_path / "mmmlu" / "test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (loaded,) = catalogue.load("mmmlu", data_dir=tmp_path).splits["test"]
    assert (loaded["A"], loaded["D"], loaded["Subject"]) == ("4", "7.5", None)


def test_prepare_brings_their_data() -> None:
    for name, key in ((ARC, "arc_easy"), (MMMLU, "mmmlu")):
        needs = task_needs(FILES[name].config)
        assert (dict(needs.data), needs.foreign) == ({key: ("test",)}, False)


def test_a_table_of_their_own_without_a_mean() -> None:
    def with_extra(model: str, arc: float, mmmlu: float) -> Any:
        scores = {ARC: entry(ARC, arc), MMMLU: entry(MMMLU, mmmlu)}
        return run_record(content(scores, model), Path("r.json"))

    runs = [full("m", 0.5), with_extra("m", 0.9, 0.25), with_extra("n", 0.8, 0.5)]
    itaeval, extra = suite_tables(runs, references())
    assert extra.suite == "itaeval_extra"
    assert [(row.label, row.means, row.average) for row in extra.rows] == [("m", {}, None), ("n", {}, None)]
    ranked = {row.label: {name: cell.rank for name, cell in row.cells.items()} for row in extra.rows}
    assert ranked == {"m": {"arc_easy": 1, "mmmlu": 2}, "n": {"arc_easy": 2, "mmmlu": 1}}
    # The suite's own average is that of the 18.
    (row,) = itaeval.rows
    assert row.average is not None
    assert (row.average.value, row.average.k, row.average.n) == (0.5, 18, 18)
    (grid,) = grids(extra)
    assert [line[0] for line in grid.rows] == ["arc_easy", "mmmlu"]
    assert not [line for line in (*grid.header, *grid.rows) if "mean" in str(line).lower() or "AVG" in str(line)]
    many = suite_tables([with_extra(f"m{n}", n / 10, n / 20) for n in range(5)], references())
    (grid,) = grids(many[0])
    assert grid.header == ("Model", "ARC E", "MMMLU")


def test_they_are_not_of_the_leaderboard() -> None:
    (problem,) = setting_problems(submission(tasks=(ARC,)))
    assert "is no task of this version's suites" in problem.message
