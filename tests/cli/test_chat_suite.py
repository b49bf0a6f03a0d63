"""Generated answers in every command: a table of their own, compared and rescored like the rest."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.harness import chat
from lm_eval_ita.metrics.answer_choice import Parsed
from lm_eval_ita.results import collect, read_run
from lm_eval_ita.results.compare import compare, one_model
from lm_eval_ita.results.reader import run_record
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.suite import columns_of, suite_tables
from tests.results.files import content
from tests.results.test_suite import entry, full

Out = pytest.CaptureFixture[str]
TASKS = [
    f"itaeval_chat_{name}" for name in ("xcopa", "itacola", "sentipolc", "hatecheck", "truthfulqa_mc1", "squad_it")
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs on sample rows: one that does not answer every third document, and one that is always right."""
    from tests.harness.test_itaeval_chat import right
    from tests.results.runs import save

    def mostly(request: Any) -> str:
        return "Non saprei." if request.doc_id % 3 == 0 else right(request)

    folder = tmp_path_factory.mktemp("chat")
    return save(folder / "a", mostly, TASKS, "org/mostly"), save(folder / "b", right, TASKS, "org/right")


def test_a_table_of_its_own(runs: tuple[Path, Path], capsys: Out) -> None:
    assert main(["summary", str(runs[0]), "--with-published"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "ItaEval, generated answers (chat) - SAMPLE DATA, NOT COMPARABLE"
    assert "not comparable with ItaEval's scores from log-probabilities" in " ".join(out.split())
    row = next(line for line in out.splitlines() if line.startswith("xcopa"))
    assert row.split() == ["xcopa", "acc", "10", "60.00", "[a]", "50.00", "50.00"]
    assert "mostly: answers without a choice, counted as wrong, x 100: " in out
    assert "xcopa 40.00" in " ".join(out.split())
    assert "6 of 18" in out
    assert "†" not in out  # printed figures are log-probability scores


def test_the_same_18_columns_but_for_truthfulqa() -> None:
    named = {suite: [c.name for c in columns_of(suite, references())] for suite in ("itaeval", "itaeval_chat")}  # type: ignore[arg-type]
    assert [name.replace("_mc1", "_mc2") for name in named["itaeval_chat"]] == named["itaeval"]


def test_scores_of_the_two_suites_are_never_ranked_together() -> None:
    names = [name for name, reference in references().items() if reference.suite == "itaeval_chat"]
    low = run_record(content({name: entry(name, 0.25) for name in names}, "chat"), Path("r.json"))
    itaeval, generated = suite_tables([full("base", 0.5), low], references())
    assert (itaeval.suite, generated.suite) == ("itaeval", "itaeval_chat")
    for table, label, value in ((itaeval, "base", 0.5), (generated, "chat", 0.25)):
        (row,) = table.rows
        assert row.average is not None
        assert (row.label, row.average.value, row.average.rank, row.average.k) == (label, value, 1, 18)
        assert not row.why_not


def test_records_say_how_answers_were_read(runs: tuple[Path, Path]) -> None:
    record = read_run(runs[0]).tasks["itaeval_chat_xcopa"]
    assert (record.suite, record.task, record.unparsable_rate) == ("itaeval_chat", "itaeval_chat_xcopa", 0.4)
    assert (record.breakdowns.outcome["stated"], record.breakdowns.outcome["no_choice"]) == (6, 4)
    assert record.baseline("chance") == 0.5


def test_compare(runs: tuple[Path, Path], capsys: Out) -> None:
    assert main(["compare", *map(str, runs), "--json"]) == 0
    shown = {task["task"]: task for task in json.loads(capsys.readouterr().out)["tasks"]}
    assert set(shown) == set(TASKS)
    assert shown["itaeval_chat_xcopa"]["difference"] == pytest.approx(0.4)
    assert shown["itaeval_chat_xcopa"]["test"] == "McNemar"
    assert shown["itaeval_chat_sentipolc"]["test"] == "permutation"
    assert shown["itaeval_chat_itacola"]["second"] == 1
    assert shown["itaeval_chat_itacola"]["first"] < 1


def test_never_compared_with_the_task_that_it_is_a_twin_of(runs: tuple[Path, Path]) -> None:
    found = compare(one_model([read_run(runs[0])], "A"), one_model([full("base", 0.5)], "B"))
    assert (found.tasks, found.refused, list(found.only_first)) == ((), {}, TASKS)


def test_rescore(runs: tuple[Path, Path], tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(runs[0].parent, tmp_path / "m")
    copy = tmp_path / "m" / runs[0].name
    assert main(["rescore", str(copy), "--check"]) == 0
    out = capsys.readouterr().out
    assert len([line for line in out.splitlines() if "metrics equal" in line]) == len(TASKS)
    monkeypatch.setattr(chat, "parse_letter", lambda answer, options: Parsed(0, "stated"))
    assert main(["rescore", str(copy), "--output"]) == 0
    tasks = {name: record for run in collect([copy.parent]).runs for name, record in run.tasks.items()}
    assert (tasks["itaeval_chat_xcopa"].unparsable_rate, tasks["itaeval_chat_xcopa"].score) == (0, 0.5)


def test_list(capsys: Out) -> None:
    assert main(["list", "--json"]) == 0
    shown = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert shown["itaeval_chat_xcopa"]["suite"] == "itaeval_chat"
    assert "not comparable" in shown["itaeval_chat_xcopa"]["deviations"][0]
    assert shown["itaeval_chat"]["members"] == ["itaeval_chat_nlu", "itaeval_chat_cfk", "itaeval_chat_bfs"]
