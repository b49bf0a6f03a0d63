"""`lm-eval-ita validate` as a person or a script sees it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets  # noqa: F401  # before the command sets the offline variables, for the other tests of this process
import pytest

from lm_eval_ita.cli.main import main

BROKEN = Path(__file__).parents[1] / "data" / "broken_tasks"
SOUND = Path(__file__).parents[1] / "data" / "sound_tasks"


def test_one_line_a_finding_and_1(capsys: pytest.CaptureFixture[str]) -> None:
    path = BROKEN / "field.yaml"
    assert main(["validate", str(path)]) == 1
    told = capsys.readouterr()
    assert told.out == (
        f"{path}:4: field: doc_to_text names 'qestion', which row 1 of split test does not have; did you mean question?\n"
    )
    assert told.err.startswith("1 file, 1 error, 0 warnings, ")


def test_warnings_are_marked_and_end_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    path = BROKEN / "greedy.yaml"
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{path}:4: greedy (warning): ")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    path = BROKEN / "label_outside.yaml"
    assert main(["validate", "--json", str(path), str(SOUND)]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["errors"], record["warnings"]) == (1, 0)
    assert record["files"] > 5
    (found,) = record["findings"]
    assert found == {
        "file": str(BROKEN / "_sound_yaml"),
        "line": 10,
        "rule": "label",
        "level": "error",
        "what": "the label 2 of row 4 of split test is not among its choices (0 to 1)",
        "mend": "let doc_to_target give the number of the right choice, counted from 0, or its text",
    }


def test_a_group_of_ours_is_checked_with_all_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "itaeval_nlu"]) == 0
    assert capsys.readouterr().err.startswith("7 files, 0 errors, 0 warnings, ")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("itaeval_xcopaa", "did you mean itaeval_xcopa?"),
        ("no/such/folder", "neither a task of ours nor a file or folder"),
        ("{empty}", "holds no task file"),
    ],
)
def test_a_target_that_is_nothing_ends_with_2(
    target: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", target.format(empty=tmp_path)]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert len(err.splitlines()) == 1


def test_a_data_folder_that_is_not_there_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "itaeval_xcopa", "--data", str(tmp_path / "dati")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{tmp_path / 'dati'} is no folder" in told.err


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LM_EVAL_ITA_SCORERS", raising=False)
    before = dict(os.environ)
    main(["validate", str(SOUND / "choice.yaml")])
    assert dict(os.environ) == before


def test_what_a_task_prints_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text("print('imported')\ndef shout(rows):\n    print('called')\n    return rows\n")
    text = (SOUND / "choice.yaml").read_text(encoding="utf-8").replace("functions.shout", "noisy.shout")
    (tmp_path / "task.yaml").write_text(text.replace("_common_yaml", str(SOUND / "_common_yaml")), encoding="utf-8")
    command = [sys.executable, "-m", "lm_eval_ita", "validate", "--json", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["findings"] == []
    assert "called" in done.stderr
