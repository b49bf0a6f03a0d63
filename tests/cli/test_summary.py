import csv
import io
import json
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main
from tests.results.files import content, old_task, task, write
from tests.results.test_suite import entry, full

NAME = "<script>alert(1)</script>|*b*_" + "x" * 10_000
OLD, NEW = "results_2026-01-01T00-00-00.000001.json", "results_2026-01-02T00-00-00.000001.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    good = content(
        {"itaeval_xcopa": entry("itaeval_xcopa", 0.516), "itaeval_honest": entry("itaeval_honest", float("nan"))}
    )
    write(tmp_path / "good", good)
    write(tmp_path / "bad", "{", OLD)
    write(tmp_path / "list", [], OLD)
    return tmp_path


def test_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(folder)]) == 1  # something could not be read
    out, err = capsys.readouterr()
    row = next(line for line in out.splitlines() if line.startswith("xcopa"))
    assert row.split() == ["xcopa", "acc", "500", "51.60", "50.00"]
    assert next(line for line in out.splitlines() if line.startswith("honest")).split() == [
        "honest",
        "honest",
        "810",
        "n/a",
        "50.00",
    ]
    assert next(line for line in out.splitlines() if line.startswith("AVG")).split() == ["AVG", "1", "of", "18"]
    assert [line.split(": ", 1)[0] for line in err.splitlines()] == ["skipped", "skipped"]


def test_of_two_files_of_one_run_the_older_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, date, score in ((OLD, 1.0, 0.1), (NEW, 2.0, 0.2)):
        write(tmp_path, content({"itaeval_xcopa": entry("itaeval_xcopa", score)}, date=date), name)
    assert main(["summary", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "20.00" in out
    assert "10.00" not in out
    assert err == f"note: {tmp_path / OLD}: itaeval_xcopa left out, {tmp_path / NEW} is used (newer)\n"


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["summary", str(folder), "--format", "json"])
    shown = json.loads(capsys.readouterr().out)
    (suite,) = shown["suites"]
    (row,) = suite["rows"]
    assert row["cells"]["xcopa"]["score"] == 0.516
    assert row["cells"]["honest"]["score"] is None
    assert row["average"] == {"value": None, "k": 1, "n": 18, "rank": None, "why_not": []}
    assert len(shown["problems"]) == 2


@pytest.mark.parametrize("prefix", ["=", "+", "-", "@", "\t=", " ="])
def test_csv_holds_no_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str) -> None:
    write(tmp_path, content({"itaeval_xcopa": entry("itaeval_xcopa", -0.25)}, f'{prefix}HYPERLINK("x"),"\n'))
    main(["summary", str(tmp_path), "--format", "csv"])
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["model"].startswith("'")
    assert (row["xcopa"], row["honest"], row["avg"], row["tasks"], row["of"]) == ("-0.25", "", "", "1", "18")


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
@pytest.mark.parametrize("models", [1, 5])
def test_names_may_hold_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, models: int) -> None:
    for i in range(models):
        write(tmp_path / str(i), content({"itaeval_xcopa": entry("itaeval_xcopa", 0.5)}, f"{NAME}{i}"))
    assert main(["summary", str(tmp_path), "--format", form]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) < 1000
    assert ("<script>" in out) == (form in ("table", "csv"))
    if form == "markdown":
        rows = [line.replace(r"\|", "") for line in out.splitlines() if line.startswith("|")]
        assert {line.count("|") for line in rows} <= ({7} if models == 1 else {9, 8, 10})


def test_with_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = full("mine", 0.99)
    assert data.tasks
    write(tmp_path, content({name: entry(name, 0.99) for name in data.tasks}, "mine"))
    assert main(["summary", str(tmp_path), "--with-published"]) == 0
    averages = capsys.readouterr().out.split("averages\n")[1].splitlines()
    assert averages[2].split() == ["mine", *["99.00"] * 4, "18", "of", "18", "1"]
    assert averages[3].split()[:2] == ["Llama-3-8B-Instr", "†"]
    assert not averages[3].rstrip().endswith("1")
    assert len([line for line in averages if "†" in line]) == 18  # 17 models and the note


def test_tasks_of_neither_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = task(0.4, "f1_macro", suite="other", figures={"acc,none": 0.75})
    for model in ("one", "two"):
        write(
            tmp_path / model,
            content({"mia": mine, "hellaswag": old_task(**{"acc,none": 0.3, "acc_norm,none": 0.4})}, model),
        )
    assert main(["summary", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    rows = [line.split() for line in out.splitlines() if line.startswith("mia")]
    assert [row[:5] for row in rows] == [["mia", model, "f1_macro", "0.4000", "0.5"] for model in ("one", "two")]
    others = [line.split() for line in out.splitlines() if line.startswith("hellaswag")]
    assert [row[2:] for row in others] == [["acc", "0.3000"], ["acc_norm", "0.4000"]] * 2
    assert err == ""
    assert main(["summary", str(tmp_path), "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["suites"] == []
    found = [each for each in shown["other_tasks"] if each["task"] == "mia"]
    assert [each["model"] for each in found] == ["one", "two"]
    assert found[0]["metrics"]["acc"] == 0.75
    assert main(["summary", str(tmp_path), "--format", "csv"]) == 0
    assert "2 tasks are of neither suite and have no CSV" in capsys.readouterr().err


def test_no_task_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, content({}))
    assert main(["summary", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "holds no task" in err
    assert "nothing to show" in err


def test_no_such_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("models", [1, 5])
def test_sample_data_is_said_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str], models: int) -> None:
    for i in range(models):
        write(tmp_path / str(i), content({"itaeval_xcopa": entry("itaeval_xcopa", 0.5, data_dir="sample")}, f"m{i}"))
    assert main(["summary", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("SAMPLE DATA, NOT COMPARABLE") == (1 if models == 1 else 4)
    assert "[a] not comparable: sample data" in out
