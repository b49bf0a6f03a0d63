import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import loader
from lm_eval_ita.catalogue.schema import Canonical
from lm_eval_ita.cli.main import main

KEYS = catalogue.keys()
ROW = {"premise": "P.", "choice1": "A.", "choice2": "B.", "question": "cause", "label": 1, "idx": 0, "changed": False}


def run(*arguments: str) -> int:
    return main(["data", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d" / "xcopa").mkdir(parents=True)
    (tmp_path / "d" / "xcopa" / "test.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    return tmp_path / "d"


def test_list(capsys: pytest.CaptureFixture[str]):
    assert run("list") == 0
    text = capsys.readouterr().out
    assert all(key in text for key in KEYS)
    assert "7,609" in text
    assert "CC BY-NC-SA 4.0" in text
    assert "organisers" in text


def test_list_json(capsys: pytest.CaptureFixture[str]):
    assert run("list", "--json") == 0
    entries = {entry["key"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(entries) == KEYS
    assert entries["squad_it"]["splits"]["test"]["rows"] == 7609
    assert entries["squad_it"]["origin"] == "machine_translated"


def test_status(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run("status", "--json", "--data-dir", str(folder)) == 0
    found = {item["key"]: item for item in json.loads(capsys.readouterr().out)}
    assert found["xcopa"] == {"key": "xcopa", "origin": "folder", "where": str(folder / "xcopa")}
    assert found["honest"]["origin"] is None
    assert run("status", "--data-dir", str(folder), "xcopa", "ami_2020") == 0
    text = capsys.readouterr().out
    assert str(folder / "xcopa") in text
    assert "missing" in text
    assert "honest" not in text


def test_status_of_samples_says_so(capsys: pytest.CaptureFixture[str]):
    assert run("status", "--data-dir", "sample", "xcopa") == 0
    assert "SAMPLE DATA, NOT COMPARABLE" in capsys.readouterr().out


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch, serve):
    server = serve(lambda handler: handler.reply(200, (json.dumps(ROW) + "\n").encode()))
    moved = catalogue.entry("xcopa").model_copy(
        update={"canonical": (Canonical(url=f"{server.url}/x.jsonl", format="jsonl", split="test"),)}
    )
    monkeypatch.setattr(loader, "find_entry", lambda key: moved if key == "xcopa" else catalogue.entry(key))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    return server


def test_fetch_into_the_cache_and_to_a_folder(origin, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run("fetch", "xcopa") == 0
    out, err = capsys.readouterr()
    assert out == f"xcopa: test 1 rows from {origin.url}/x.jsonl\n"
    assert err == "note: xcopa test: 1 rows, the full set has 500\n"
    assert run("fetch", "xcopa", "--to", str(tmp_path / "off")) == 0
    assert f"export LM_EVAL_ITA_DATA={tmp_path / 'off'}" in capsys.readouterr().out
    assert json.loads((tmp_path / "off" / "xcopa" / "test.jsonl").read_text(encoding="utf-8")) == ROW
    assert len(origin.seen) == 1


def test_fetch_goes_on_after_a_failure_and_says_so(origin, capsys: pytest.CaptureFixture[str]):
    assert run("fetch", "ami_2020", "xcopa") == 2
    out, err = capsys.readouterr()
    assert "xcopa: test 1 rows" in out
    assert "ami_2020 (AMI 2020, misogyny and aggressiveness) cannot be had" in err


def test_a_misspelt_key_is_said_before_anything_is_fetched(origin, capsys: pytest.CaptureFixture[str]):
    assert run("fetch", "xcopa", "itacolla") == 2
    assert "did you mean itacola?" in capsys.readouterr().err
    assert origin.seen == []


def test_verify_a_good_folder(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run("verify", str(folder)) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "1 rows; the full set has 500" in err
    assert "all rows are good" in err


def test_verify_lists_every_problem_one_per_line(folder: Path, capsys: pytest.CaptureFixture[str]):
    bad = [ROW | {"label": 3}, ROW, ROW | {"premise": " "}]
    path = folder / "xcopa" / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in bad) + '{"premise": "tron', encoding="utf-8")
    (folder / "xcopa" / "tset.jsonl").write_text("")
    (folder / "ironita").mkdir()
    (folder / "xcoppa").mkdir()
    assert run("verify", str(folder)) == 2
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"{folder / 'ironita'}: the split train is missing",
        f"{folder / 'ironita'}: the split test is missing",
        f"{folder / 'xcopa' / 'tset.jsonl'}: xcopa has no split 'tset' (there are: test, validation)",
        f"{path}:1: label: 3 is not one of 0, 1",
        f"{path}:3: premise: the text is empty",
        out.splitlines()[5],
    ]
    assert out.splitlines()[5].startswith(f"{path}:4: not valid JSON")
    assert f"note: {folder / 'xcoppa'}: not a data set of the catalogue" in err
    assert "6 problems" in err


def test_verify_takes_the_folder_of_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LM_EVAL_ITA_DATA", str(folder))
    assert run("verify") == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "which folder?"), (["/nowhere/at/all"], "there is no such folder"), (["."], "holds no data set")],
)
def test_verify_of_no_data(arguments: list[str], message: str, capsys, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("verify", *arguments) == 2
    assert message in capsys.readouterr().err


def test_verify_samples():
    assert run("verify", "sample") == 0


DOWNLOAD = """
import sys
from lm_eval_ita.catalogue.fetch import progress
with progress("xcopa: test") as report:
    report(5, 10)
"""


def test_a_terminal_gets_a_progress_bar():
    leader, follower = pty.openpty()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", DOWNLOAD], stderr=follower, env=env, check=True, timeout=60)
    os.close(follower)
    assert b"xcopa: test" in os.read(leader, 10_000)
    os.close(leader)
