"""The walk-through of `docs/adding_tasks.md`, block by block in one folder: what it shows is what happens."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_ita.catalogue.folder import samples
from tests.docs.blocks import ROOT, Block, blocks

PAGE = [block for block in blocks(ROOT / "docs" / "adding_tasks.md") if block.what == "walk-through"]
TALK, FIRST, SECOND = (block for block in PAGE if block.language == "console")
(FUNCTION,) = (block for block in PAGE if block.language == "python")
METRIC, LISTS = (block for block in PAGE if block.language == "yaml")
SCRIPT, RUN, ASSOCIATION, VALIDATE = (block for block in PAGE if block.language == "bash")


# The real file where it is at hand; with its sample rows counts and sentences are others than on the page.
REAL = os.environ.get("LM_EVAL_ITA_TEST_DATA")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the walk-through starts."""
    target = tmp_path / "data" / "itacola" / "phenomena.jsonl"
    target.parent.mkdir(parents=True)
    shutil.copyfile((Path(REAL) if REAL else samples()) / "itacola" / "phenomena.jsonl", target)
    return tmp_path


def environment() -> dict[str, str]:
    binaries = Path(sys.executable).parent
    names = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", **names}


def shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-uo", "pipefail", "-c", text]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def conversation(block: Block, folder: Path) -> tuple[str, int]:
    """Run the command of a transcript on a terminal, its questions answered as there; what was said, and the exit code."""
    lines = block.text.splitlines()
    parent, child = pty.openpty()
    command = ["bash", "-c", lines[0].removeprefix("$ ")]
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdin=child, stdout=child, stderr=child)
    os.close(child)
    told = b""
    while select.select([parent], [], [], 120)[0]:
        try:
            told += os.read(parent, 65536)
        except OSError:  # the terminal is gone with the process
            break
        asked = told.decode("utf-8", "ignore").rpartition("\n")[2]
        if asked.endswith(": "):
            answers = [line[len(asked) :] for line in lines if line.startswith(asked)] or ["?"]
            os.write(parent, f"{answers[0]}\n".encode())
    os.close(parent)
    return told.decode().replace("\r\n", "\n"), process.wait()


def assert_shown(told: str, block: Block) -> None:
    """What was said is what the page shows; "..." there stands for lines, and "/.../" for folders."""
    shown = [line for line in block.text.splitlines() if not line.startswith("$ ")]
    lines = ["(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + " *\n" for line in shown]
    pattern = re.sub(r"[0-9]+\\\.[0-9]\\ s", "[0-9.]+ s", "".join(lines).replace(r"/\.\.\./", "/.*/"))
    assert re.fullmatch(pattern, told), f"{told}\n---\n{block.text}"


def test_from_data_to_a_task_with_a_metric_of_its_own(folder: Path) -> None:
    told, code = conversation(TALK, folder)
    assert code == 0, told
    if REAL:
        assert_shown(told, TALK)
    task = folder / "tasks" / "itacola_fenomeni.yaml"
    written = {file.name: file.read_text(encoding="utf-8") for file in (folder / "tasks").iterdir()}

    # The same in a script: the same files.
    shutil.rmtree(folder / "tasks")
    done = shell(SCRIPT.text, folder)
    assert done.returncode == 0, done.stderr
    assert {file.name: file.read_text(encoding="utf-8") for file in (folder / "tasks").iterdir()} == written

    # A function beside the task, with a slip, without its metric, and right.
    (folder / "tasks" / "fenomeni.py").write_text(FUNCTION.text + "\n", encoding="utf-8")
    good = re.sub("process_results: .*", "process_results: !function fenomeni.results", written[task.name])
    task.write_text(good.replace("fenomeni.results", "fenomeni.result"), encoding="utf-8")
    done = shell(FIRST.text.splitlines()[0].removeprefix("$ "), folder)
    assert done.returncode == 1
    assert_shown(done.stdout + done.stderr, FIRST)
    task.write_text(good, encoding="utf-8")
    done = shell(SECOND.text.splitlines()[0].removeprefix("$ "), folder)
    assert done.returncode == 1
    assert_shown(done.stdout, SECOND)
    head, under, rest = good.partition("metric_list:\n")
    task.write_text(f"{head}{under}{METRIC.text}\n{rest}", encoding="utf-8")

    # The association test beside it, and `validate` in its four forms.
    (folder / "citta.yaml").write_text(LISTS.text + "\n", encoding="utf-8")
    done = shell(ASSOCIATION.text, folder)
    assert done.returncode == 0, done.stderr
    for command in VALIDATE.commands():
        done = shell(command, folder)
        assert done.returncode == 0, done.stdout
        assert " 0 errors, 0 warnings" in done.stderr


@pytest.mark.slow
def test_it_runs_here_and_with_the_plain_harness(folder: Path) -> None:
    from tests.models import tiny_lm

    assert shell(SCRIPT.text, folder).returncode == 0
    model = tiny_lm(folder / "lm")
    done = shell(f"set -e\n{RUN.text.replace('MODEL', str(model))}", folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.count("itacola_fenomeni") >= 2
