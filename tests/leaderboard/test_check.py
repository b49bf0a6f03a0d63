import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_ita.leaderboard.check import main
from lm_eval_ita.leaderboard.store import open_store
from lm_eval_ita.results.submission import validate
from lm_eval_ita.results.submission_records import upload_bytes
from tests.leaderboard.bad_uploads import BAD_UPLOADS, good
from tests.leaderboard.submissions import submission


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an approved submission and its documents, one that waits, and one that was rejected."""
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "store"
    own = open_store(folder)
    checked = validate(json.dumps(good()).encode())
    assert checked.submission is not None
    own.add(checked.submission, checked.documents)
    own.add_pending(upload_bytes(submission("org/waits")))
    own.reject(own.add_pending(upload_bytes(submission("org/bad"))), "made up")
    (folder / "submissions" / ".gitkeep").touch()
    return folder


def lines(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    """What the check prints, its exit code held against it."""
    code = main([str(argument) for argument in arguments])
    found = capsys.readouterr().out.splitlines()
    assert code == int(bool(found))
    return found


def test_a_good_store(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, store) == []


def test_bad_files_are_named_with_their_fields(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = []
    for number, (name, make) in enumerate(BAD_UPLOADS.items()):
        raw, field = make()
        (store / "pending" / f"{number:016}.json").write_bytes(raw)
        # Too large a file is not even read.
        expected.append(f"pending/{number:016}.json: {'has' if name == '10 MB' else f'{field}:'}")
    found = lines(capsys, store)
    assert all(line.isprintable() for line in found)
    for start in expected:
        assert any(line.startswith(start) for line in found), start


def test_what_does_not_belong_there(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (approved,) = (store / "submissions").glob("*.json")
    (store / "submissions" / "evil.py").write_text("print()", encoding="utf-8")
    (store / "submissions" / "more").mkdir()
    (store / "submissions" / "more" / approved.name).write_bytes(approved.read_bytes())
    renamed = submission("org/renamed")
    (store / "submissions" / "1111111111111111.json").write_bytes(upload_bytes(renamed))
    (store / "documents" / "2222222222222222.json").write_text("{}", encoding="utf-8")
    (store / "decisions" / "20260101T000000.000000Z-2222222222222222.json").write_text("[]", encoding="utf-8")
    secret = tmp_path / "secret"
    secret.write_text("root", encoding="utf-8")
    (store / "pending" / "3333333333333333.json").symlink_to(secret)
    found = "\n".join(lines(capsys, store))
    assert "submissions/evil.py: does not belong here" in found
    assert f"submissions/more/{approved.name}: does not belong here" in found
    assert (
        f"submissions/1111111111111111.json: its content is {renamed.submission_id}; give the file that name" in found
    )
    assert "documents/2222222222222222.json: there is no submission 2222222222222222" in found
    assert "decisions/20260101T000000.000000Z-2222222222222222.json: is no decision" in found
    assert "pending/3333333333333333.json: is no ordinary file" in found
    assert len(found.splitlines()) == 6


def test_documents_of_another_hand(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (documents,) = (store / "documents").glob("*.json")
    content = json.loads(documents.read_bytes())
    content["tasks"]["itaeval_xcopa"]["values"][0] = 0.0
    documents.write_text(json.dumps(content), encoding="utf-8")
    found = lines(capsys, store)
    assert any("documents.tasks.itaeval_xcopa.values: gives 0.498" in line for line in found)


def test_fewer_tasks_than_before(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    later = submission().model_copy(update={"submitted": submission().submitted.replace(year=2099)})
    (store / "submissions" / f"{later.submission_id}.json").write_bytes(upload_bytes(later))
    (found,) = lines(capsys, store)
    assert found.startswith(f"submissions/{later.submission_id}.json: run.tasks: it would replace ")
    assert "which also holds itaeval_hatecheck, itaeval_honest, itaeval_itacola" in found


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_only_what_changed(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (approved,) = (store / "submissions").glob("*.json")
    (waiting,) = (store / "pending").glob("*.json")
    old = store / "pending" / "4444444444444444.json"
    old.write_text("not looked at again", encoding="utf-8")
    git(store, "init", "-q", "-b", "main")
    git(store, "add", ".")
    git(store, "commit", "-q", "-m", "Store")
    assert lines(capsys, store, "--changed", "main") == []
    made = submission("org/new")
    (store / "submissions" / f"{made.submission_id}.json").write_bytes(upload_bytes(made))
    bad = store / "submissions" / "5555555555555555.json"
    bad.write_text("{}", encoding="utf-8")
    approved.write_bytes(approved.read_bytes() + b" ")
    waiting.unlink()
    (rejected,) = (store / "rejected").glob("*.json")
    rejected.unlink()
    git(store, "add", ".")
    found = lines(capsys, store, "--changed", "main")
    assert found == [
        f"rejected/{rejected.name}: was removed; a store's files stay as they are, add a new one",
        f"submissions/{approved.name}: was changed; a store's files stay as they are, add a new one",
        "submissions/5555555555555555.json: schema_version: is missing; make the file again with `lm-eval-ita submit` of "
        "this version",
    ]


@pytest.mark.parametrize("base", ["no-such-branch", "--output=/tmp/x"])
def test_a_base_that_git_does_not_know(base: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(store, "init", "-q")
    assert main([str(store), f"--changed={base}"]) == 2
    assert "git cannot compare" in capsys.readouterr().err


def test_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "holds no store" in capsys.readouterr().err


def test_as_a_repository_runs_it(store: Path) -> None:
    root = Path(__file__).parents[2]
    (store / "pending" / "x").touch()
    done = subprocess.run(
        [sys.executable, root / "leaderboard" / "check.py"],
        cwd=store,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("pending/x: does not belong here")
