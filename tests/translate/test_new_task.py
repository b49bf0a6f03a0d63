"""A translated file becomes a task."""

from pathlib import Path

import pytest
import yaml

from lm_eval_ita.cli.main import main
from tests.translate.conftest import Translating
from tests.translate.test_pipeline import ROWS, command, write


def test_a_task_from_a_translation(
    tmp_path: Path, server: tuple[str, Translating], capsys: pytest.CaptureFixture[str]
) -> None:
    url, _ = server
    rows = [{**ROWS[n % 2], "id": f"r{n}"} for n in range(12)]
    assert main(command(write(tmp_path / "en.jsonl", rows), tmp_path / "it.jsonl", url)) == 0
    words = ["--question", "question", "--choices", "choices.text", "--label", "answerKey", "--shots", "0"]
    about = [
        "--origin",
        "machine_translated",
        "--title",
        "ARC, by TowerInstruct-7B-v0.1",
        "--licence",
        "none",
        "--paper",
        "none",
    ]
    into = ["--into", str(tmp_path / "tasks"), "--split", "test", "--no-keep-samples"]
    data = ["--kind", "multiple_choice", "--data", str(tmp_path / "it.jsonl")]
    assert main(["new-task", "arc_mia", *data, *words, *about, *into]) == 0, capsys.readouterr()
    out = capsys.readouterr().out
    assert "Quale gas assorbono le piante?" in out
    assert "validate: no finding" in out
    text = (tmp_path / "tasks" / "arc_mia.yaml").read_text(encoding="utf-8")
    assert "origin: machine_translated" in text
    catalogue = yaml.safe_load((tmp_path / "tasks" / "catalogue.yaml").read_text(encoding="utf-8"))
    assert "TowerInstruct-7B-v0.1" in str(catalogue)
