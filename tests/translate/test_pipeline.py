"""A data set through the whole command: output, kills, a server that fails, repairs, review."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.translate.runner import COLUMN
from tests.catalogue.server import Handler
from tests.translate.conftest import Translating

ROWS = [
    {
        "id": "a",
        "question": "Which gas do plants take in?  The cat sleeps on the sofa.\n",
        "choices": {"text": ["oxygen", "carbon dioxide"], "label": ["A", "B"]},
        "answerKey": "B",
    },
    {
        "id": "b",
        "question": "Water boils at 100 degrees.",
        "choices": {"text": ["oxygen", "3.5"], "label": ["A", "B"]},
        "answerKey": "A",
    },
]


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def command(data: Path, to: Path, url: str, *more: str) -> list[str]:
    fields = ["--fields", "question,choices.text[]"]
    how = ["--splitter", "rule", "--backend", "openai", "--model", "Unbabel/TowerInstruct-7B-v0.1", "--base-url", url]
    return ["translate", str(data), *fields, "--to", str(to), *how, *more]


def test_rows_keep_how_they_came_about(
    tmp_path: Path, server: tuple[str, Translating], capsys: pytest.CaptureFixture[str]
) -> None:
    url, behaviour = server
    data, to = write(tmp_path / "en.jsonl", ROWS), tmp_path / "it.jsonl"
    assert main(command(data, to, url)) == 0
    first, second = read(to)
    assert first["question"] == "Quale gas assorbono le piante?  Il gatto dorme sul divano.\n"
    assert first["choices"] == {"text": ["ossigeno", "anidride carbonica"], "label": ["A", "B"]}
    assert second["choices"]["text"] == ["ossigeno", "3.5"], "what is protected is not asked for"
    assert sorted(behaviour.asked) == sorted(
        {"oxygen", "carbon dioxide", *ROWS[0]["question"].strip().split("  "), ROWS[1]["question"]}
    )
    about = first[COLUMN]
    assert about["model"] == "Unbabel/TowerInstruct-7B-v0.1"
    assert about["settings"]["prompt"] == "tower"
    assert about["settings"]["splitter"] == "rule"
    assert about["flags"] == []
    assert about["fields"][0] == {
        "path": "question",
        "source": ROWS[0]["question"],
        "separators": ["", "  ", "\n"],
        "sentences": ["Which gas do plants take in?", "The cat sleeps on the sofa."],
        "translations": ["Quale gas assorbono le piante?", "Il gatto dorme sul divano."],
    }
    # The documented prompt and settings of TowerInstruct.
    assert behaviour.last["temperature"] == 0
    assert behaviour.last["messages"][0]["content"].startswith(
        "Translate the following text from English into Italian.\nEnglish: "
    )
    assert behaviour.last["messages"][0]["content"].endswith("\nItalian:")
    assert "--origin machine_translated" in capsys.readouterr().out
    # Again: nothing is asked, and the same file is written.
    content, asked = to.read_bytes(), len(behaviour.asked)
    assert main(command(data, to, url)) == 0
    assert len(behaviour.asked) == asked
    assert to.read_bytes() == content
    # Other settings do not mix with these.
    assert main(command(data, to, url, "--prompt", "instruct")) == 2
    assert "prompt was None and is now 'instruct'" in capsys.readouterr().err


@pytest.mark.slow
def test_with_stanza(
    tmp_path: Path, server: tuple[str, Translating], stanza_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = server
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(stanza_models))
    data, to = write(tmp_path / "en.jsonl", ROWS), tmp_path / "it.jsonl"
    assert main([*command(data, to, url), "--splitter", "stanza"]) == 0
    first, _ = read(to)
    assert first["question"] == "Quale gas assorbono le piante?  Il gatto dorme sul divano.\n"
    assert first[COLUMN]["settings"]["splitter"] == "stanza"
    assert first[COLUMN]["fields"][0]["separators"] == ["", "  ", "\n"]


def settled(behaviour: Translating) -> int:
    """How many sentences were asked, once the server has answered what a killed client left behind."""
    before = -1
    while before != len(behaviour.asked):
        before = len(behaviour.asked)
        time.sleep(1)
    return before


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path, server: tuple[str, Translating]) -> None:
    """kill -9 at six moments: no sentence is lost, and none that was saved is asked for again."""
    url, behaviour = server
    rows = [{"q": f"This is sentence number {n} of the set. And {n} more words for it."} for n in range(80)]
    data, to = write(tmp_path / "en.jsonl", rows), tmp_path / "it.jsonl"
    words = [
        "--fields",
        "q",
        "--to",
        str(to),
        "--splitter",
        "rule",
        "--backend",
        "openai",
        "--model",
        "m",
        "--base-url",
        url,
    ]
    run = [
        sys.executable,
        "-m",
        "lm_eval_ita",
        "translate",
        str(data),
        *words,
        "--batch-size",
        "4",
        "--concurrency",
        "2",
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    behaviour.before = lambda handler, sentence: bool(time.sleep(0.02))
    log = tmp_path / "it.jsonl.work" / "translations.jsonl"

    def saved() -> int:
        return sum(len(json.loads(line)["keys"]) for line in log.read_bytes().split(b"\n")[:-1]) if log.exists() else 0

    kept = 0
    for kill in range(6):
        process = subprocess.Popen(run, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = kept + 4 * (1 + kill % 2)
        while saved() < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(0.004 * kill)
        assert process.poll() is None, "it was over before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert saved() >= kept
        assert not to.exists()
        kept = saved()
    with log.open("ab") as file:
        file.write(b'{"keys": ["a line that a kill cut')
    before = settled(behaviour)
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(behaviour.asked) - before == 160 - kept
    assert set(behaviour.asked) == {
        part for row in rows for part in (row["q"].split(". ")[0] + ".", row["q"].split(". ")[1])
    }
    assert len(behaviour.asked) - 160 <= 6 * 4, "a kill costs at most one batch"
    assert [row["q"] for row in read(to)] == [
        f"it: This is sentence number {n} of the set. it: And {n} more words for it." for n in range(80)
    ]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".it")) == []


def test_a_server_that_fails(
    tmp_path: Path, server: tuple[str, Translating], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, behaviour = server
    monkeypatch.setattr("lm_eval_ita.translate.server._FIRST_WAIT", 0.01)
    data, to = write(tmp_path / "en.jsonl", ROWS), tmp_path / "it.jsonl"
    failures = iter(["500", "cut", "429", "nonsense"])

    def before(handler: Handler, sentence: str) -> bool:
        kind = next(failures, None)
        if kind is None:
            return False
        if kind == "cut":
            handler.reply(200, b"{}" * 50, cut=10)
        elif kind == "nonsense":
            handler.reply(200, b"[]")
        else:
            handler.reply(int(kind), b"later", Retry_After="0")
        return True

    behaviour.before = before
    assert main(command(data, to, url, "--batch-size", "2", "--concurrency", "1")) == 0
    assert read(to)[0]["choices"]["text"][1] == "anidride carbonica"
    capsys.readouterr()

    # Half an hour of failures, here half a second: it stops, and goes on later.
    to = tmp_path / "second.jsonl"
    count = len(behaviour.asked)
    behaviour.before = lambda handler, sentence: sentence == "oxygen" and (handler.reply(503) or True)
    more = ("--batch-size", "1", "--patience", "0.5")
    assert main(command(data, to, url, *more)) == 1
    assert "status 503, for" in capsys.readouterr().err
    assert not to.exists()
    assert len(behaviour.asked) == count + 4
    behaviour.before = lambda handler, sentence: False
    assert main(command(data, to, url, *more)) == 0
    assert len(behaviour.asked) == count + 5

    # A refusal is no failure that passes.
    behaviour.before = lambda handler, sentence: handler.reply(401, b"no key") or True
    assert main(command(data, tmp_path / "third.jsonl", url)) == 2
    assert "refuses the request: status 401: no key" in capsys.readouterr().err


def test_a_server_that_is_silent(
    tmp_path: Path, server: tuple[str, Translating], capsys: pytest.CaptureFixture[str]
) -> None:
    url, behaviour = server
    behaviour.before = lambda handler, sentence: bool(time.sleep(0.6))
    data = write(tmp_path / "en.jsonl", ROWS[1:])
    more = ("--timeout", "0.1", "--patience", "0.3")
    assert main(command(data, tmp_path / "it.jsonl", url, *more)) == 1
    assert "no answer (ReadTimeout)" in capsys.readouterr().err


def test_fix_review_and_merge(
    tmp_path: Path, server: tuple[str, Translating], capsys: pytest.CaptureFixture[str]
) -> None:
    url, behaviour = server
    rows = [
        {"id": "1", "question": "The dog runs over the green hill today.", "choices": {"text": ["oxygen", "gold"], "label": ["A", "B"]}, "answerKey": "A"},
        {"id": "2", "question": "The bird sings in the old tree all day.", "choices": {"text": ["=1 cat", "-5"], "label": ["A", "B"]}, "answerKey": "A"},
        {"id": "3", "question": "=Look at the house of my old friend.", "choices": {"text": ["oxygen", "air"], "label": ["A", "B"]}, "answerKey": "A"},
    ]  # fmt: skip
    answers = {
        ("The dog runs over the green hill today.", 0.0): "corre corre corre corre corre sulla collina",
        ("The dog runs over the green hill today.", 0.3): "Oggi il cane corre sulla collina verde.",
        ("The bird sings in the old tree all day.", 0.0): "L'uccello canta tutto il giorno sul vecchio albero.",
        ("=Look at the house of my old friend.", 0.0): "",
        ("=Look at the house of my old friend.", 0.3): "",
        ("gold", 0.0): "oro", ("air", 0.0): "ossigeno", ("air", 0.3): "ossigeno", ("=1 cat", 0.0): "=1 gatto",
    }  # fmt: skip

    def before(handler: Handler, sentence: str) -> bool:
        text = answers.get((sentence, json.loads(handler.body)["temperature"]))
        if text is None:
            return False
        answer = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        handler.reply(200, json.dumps(answer).encode())
        return True

    behaviour.before = before
    data, to = write(tmp_path / "en.jsonl", rows), tmp_path / "it.jsonl"
    assert main(command(data, to, url, "--fix")) == 0
    first, second, third = read(to)
    assert first["question"] == "Oggi il cane corre sulla collina verde."
    assert first[COLUMN]["flags"] == []
    assert first[COLUMN]["fields"][0]["changed_settings"] == {"temperature": 0.3, "seed": 1}
    assert second[COLUMN]["flags"] == []
    assert [flag["kind"] for flag in third[COLUMN]["flags"]] == ["empty", "right_equals_wrong"]

    review = tmp_path / "it.review.csv"
    lines = list(csv.DictReader(review.open(encoding="utf-8", newline="")))
    assert [(line["row"], line["where"], line["flags"]) for line in lines] == [
        ("3", "question", "empty"),
        ("3", "choices.text[0]", "right_equals_wrong"),
        ("3", "choices.text[1]", "right_equals_wrong"),
    ]
    assert lines[0]["source"].startswith("'="), "no spreadsheet takes it for a formula"
    lines[0]["edited"] = "'=Guarda la casa del mio vecchio amico."
    lines[2]["edited"] = "aria"
    with review.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    assert main(["translate", "merge", str(to), "--review", str(review)]) == 0
    assert "2 texts edited, 0 flags left" in capsys.readouterr().out
    third = read(to)[2]
    assert third["question"] == "=Guarda la casa del mio vecchio amico."
    assert third["choices"]["text"] == ["ossigeno", "aria"]
    assert third[COLUMN]["fields"][2]["edited"] == "aria"
    # The same file again is out of date.
    assert main(["translate", "merge", str(to), "--review", str(review)]) == 2
    assert "it.review.csv:2: row 3, question: has changed since" in capsys.readouterr().err


def test_against_the_original_and_a_published_translation(
    tmp_path: Path, server: tuple[str, Translating], capsys: pytest.CaptureFixture[str]
) -> None:
    url, behaviour = server
    behaviour.before = lambda handler, sentence: (
        sentence == "ossigeno" and (handler.reply(200, json.dumps(answer("wild cats")).encode()) or True)
    )
    published = [
        {"id": "b", "question": "L'acqua bolle a 100 gradi.", "choices": {"text": ["ossigeno", "3,5"]}},
        {"id": "a", "question": "Altro.", "choices": {"text": ["ossigeno", "anidride carbonica"]}},
    ]
    data, to = write(tmp_path / "en.jsonl", ROWS), tmp_path / "it.jsonl"
    more = ["--back-translate", "TowerInstruct", "--published", str(write(tmp_path / "other.jsonl", published))]
    assert main(command(data, to, url, *more)) == 0
    report = json.loads((tmp_path / "it.report.json").read_text(encoding="utf-8"))
    assert (report["agreement"]["question"]["texts"], report["agreement"]["question"]["equal"]) == (2, 1)
    assert (report["agreement"]["choices.text[]"]["texts"], report["agreement"]["choices.text[]"]["equal"]) == (4, 3)
    assert 0 < report["agreement"]["question"]["chrf"] < 100
    assert 0 < report["back_translation_chrf"] < 100
    flags = [(row["id"], flag["kind"], flag["paths"]) for row in read(to) for flag in row[COLUMN]["flags"]]
    assert flags == [(name, "back_translation", ["choices.text[0]"]) for name in ("a", "b")]
    # Without common ids, in order; with other numbers of rows, not at all.
    anonymous = [{key: value for key, value in row.items() if key != "id"} for row in published]
    more = ["--published", str(write(tmp_path / "other.jsonl", anonymous))]
    assert main(command(data, to, url, *more)) == 0
    assert "question: 2 texts, 0 equal" in capsys.readouterr().out
    write(tmp_path / "other.jsonl", anonymous[:1])
    assert main(command(data, to, url, *more)) == 2
    assert "its rows cannot be paired (1 rows for 2, and no common id)" in capsys.readouterr().err


def answer(text: str) -> dict:
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--fields", "questions"], "no 'questions'"),
        (["--to", "x.csv"], "ends in .jsonl"),
        (["--to", "en.jsonl"], "--to is the file that is translated"),
        (["--question", "q"], "is not among --fields"),
        (["--base-url", ""], "needs --base-url"),
        (["--base-url", "localhost:8000"], "--base-url localhost:8000: "),
        (["--backend", "hf", "--model", "/nowhere"], "cannot be loaded"),
    ],
)
def test_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    data = write(tmp_path / "en.jsonl", ROWS)
    assert main([*command(data, tmp_path / "it.jsonl", "http://127.0.0.1:9"), *change]) == 2
    assert message in capsys.readouterr().err


def test_a_long_row(tmp_path: Path, server: tuple[str, Translating]) -> None:
    url, behaviour = server
    rows = [
        {
            "id": "1",
            "question": "word " * 20_000,
            "choices": {"text": ["x" * 100_000], "label": ["A"]},
            "answerKey": "A",
        }
    ]
    data, to = write(tmp_path / "en.jsonl", rows), tmp_path / "it.jsonl"
    assert main(command(data, to, url)) == 0
    assert max(map(len, behaviour.asked)) <= 1200
    (row,) = read(to)
    assert row["choices"]["text"] == rows[0]["choices"]["text"]
    assert "too_long" in {flag["kind"] for flag in row[COLUMN]["flags"]}
