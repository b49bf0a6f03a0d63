"""`lm-eval-ita new-task` as a person or a script sees it."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import datasets  # noqa: F401  # before the command sets the offline variables, for the other tests of this process
import pytest

from lm_eval_ita.cli.main import main

ROWS = [{"frase": f"Piove {n} volte.", "vera": n % 2} for n in range(8)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "frasi.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def arguments(data: Path) -> list[str]:
    return [
        "new-task", "prova_frasi", "--kind", "yes_no", "--data", str(data), "--into", str(data.parent / "tasks"),
        "--question", "frase", "--label", "vera", "--yes", "1", "--origin", "native", "--shots", "2",
    ]  # fmt: skip


def test_by_flags(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments(data), "--instruction", "La seguente frase è vera?"]) == 0
    out = capsys.readouterr().out.splitlines()
    folder = data.parent / "tasks"
    assert out == [
        f"wrote {folder / 'catalogue.yaml'}",
        f"wrote {folder / 'test_prova_frasi.py'}",
        f"wrote {folder / 'prova_frasi.yaml'}",
        "the first prompt:",
        "    La seguente frase è vera? Rispondi Sì o No.",
        "    Frase: Piove 0 volte.",
        "    Risposta: [No]",
        "validate: no finding",
        f"try it: lm-eval-ita run --include_path {folder} --tasks prova_frasi --model_args pretrained=MODEL --limit 10",
    ]


def test_a_missing_flag_without_a_terminal_ends_with_2(data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval_ita", *arguments(data)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        'lm-eval-ita: --instruction is missing: The question in Italian, such as "La seguente frase è ironica?"\n'
    )
    assert not (data.parent / "tasks").exists()


def test_a_terminal_is_asked(data: Path) -> None:
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lm_eval_ita", *arguments(data), "--title", "Frasi", "--licence", "CC0", "--paper", "nessuno"],
        stdin=child, stdout=child, stderr=child, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    os.close(child)
    told, typed = b"", [b"La seguente frase \xc3\xa8 vera?\n", b"y\n"]
    while select.select([parent], [], [], 120)[0]:
        try:
            told += os.read(parent, 4096)
        except OSError:  # the terminal is gone with the process
            break
        if typed and told.endswith(b": "):
            os.write(parent, typed.pop(0))
    assert process.wait() == 0, told.decode()
    os.close(parent)
    assert "The question in Italian" in told.decode()
    assert (data.parent / "tasks" / "samples" / "prova_frasi" / "test.jsonl").is_file()


def test_a_folder_that_cannot_be_written(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data.parent / "tasks").write_text("a file where a folder should be")
    assert main([*arguments(data), "--instruction", "La seguente frase è vera?"]) == 2
    assert "cannot be written" in capsys.readouterr().err
