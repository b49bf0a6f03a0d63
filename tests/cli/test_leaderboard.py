"""`lm-eval-ita leaderboard`: decisions, and what is refused before anything starts."""

import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from lm_eval_ita.cli.leaderboard import default_store
from lm_eval_ita.cli.main import main
from lm_eval_ita.leaderboard.store import open_store
from lm_eval_ita.results.submission_records import upload_bytes
from tests.leaderboard.submissions import submission


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "store"


def test_deciding(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(place)
    first, second = (store.add_pending(upload_bytes(submission(f"org/{name}"))) for name in ("uno", "due"))
    command = ["leaderboard", "--store", str(place)]
    assert main([*command, "pending"]) == 0
    out = capsys.readouterr().out
    assert first in out
    assert second in out
    assert main([*command, "pending", first]) == 0
    assert "itaeval_xcopa" in capsys.readouterr().out
    assert main([*command, "approve", first]) == 0
    assert main([*command, "reject", second, "--reason", "of another model"]) == 0
    assert [each.submission_id for each in store.current()] == [first]
    assert list(store.pending()) == []
    assert main([*command, "approve", second]) == 2
    assert second in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["approve"], "name the submission"),
        (["reject", "feedfeedfeedfeed"], "--reason"),
        (["approve", "feedfeedfeedfeed", "--reason", "x"], "--reason"),
        (["pending", "a", "b"], "one ID"),
        (["pending", "--port", "8000"], "no action"),
    ],
)
def test_usage(place: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaderboard", "--store", str(place), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken(place: Path) -> None:
    if find_spec("gradio") is None:
        pytest.skip("needs the package gradio")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = ["leaderboard", "--store", str(place), "--port", str(taken.getsockname()[1]), "--no-browser"]
        # A process of its own: importing Gradio leaves behind what closes the streams of the one that did.
        done = subprocess.run(
            [sys.executable, "-m", "lm_eval_ita", *command], capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert "--port" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_store_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_STORE", "hf://datasets/org/name")
    assert default_store() == "hf://datasets/org/name"
    monkeypatch.delenv("LM_EVAL_ITA_STORE")
    assert Path(default_store()).name == "leaderboard"
