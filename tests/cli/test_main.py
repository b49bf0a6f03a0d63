import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_ita import __version__
from lm_eval_ita.cli.main import main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"lm-eval-ita {__version__}\n"


def test_the_command_line_imports_nothing_that_reads_the_offline_variables() -> None:
    """`run --offline` sets them, and whoever was imported before would not see it."""
    program = "import sys, lm_eval_ita.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"huggingface_hub", "transformers", "datasets", "lm_eval", "tqdm"} & set(done.stdout.split())


def test_tasks_path_is_a_folder_of_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks-path"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert (folder / "itapat" / "base" / "itapat_base_1.yaml").is_file()


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    task = rows["itapat_gender_7"]
    assert (task["suite"], task["category"], task["shots"], task["metric"], task["origin"]) == (
        "itapat", "gender", 0, "bias_score", "template",
    )  # fmt: skip
    assert rows["itapat"]["kind"] == "group"
    assert rows["itapat"]["members"] == ["itapat_base", "itapat_race", "itapat_gender", "itapat_age"]
    assert sum(row["suite"] == "itapat" for row in rows.values() if row["kind"] == "task") == 32


def test_list_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for word in ("Task", "Suite", "Category", "Shots", "Metric", "Origin", "itapat_base_3b", "itapat_oneshot"):
        assert word in out


def test_a_command_does_not_import_the_others() -> None:
    program = "import sys; from lm_eval_ita.cli.main import main; main(['tasks-path']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "lm_eval_ita.cli.tasks_path" in loaded
    assert not [name for name in loaded if name in ("lm_eval_ita.cli.compare", "lm_eval_ita.cli.data", "numpy", "rich")]


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    named = re.findall(r"^    ([a-z-]+)(?:  |$)", capsys.readouterr().out, re.MULTILINE)
    folder = Path(sys.modules["lm_eval_ita.cli"].__path__[0])
    commands = [file.stem for file in folder.glob("*.py") if "\ndef add_parser(" in file.read_text(encoding="utf-8")]
    assert len(commands) >= 8
    assert sorted(named) == sorted(name.removesuffix("_tasks").replace("_", "-") for name in commands)


def test_every_command_is_wired_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "list", "--json"]) == 0
    keys = {entry["key"] for entry in json.loads(capsys.readouterr().out)}
    assert {"xcopa", "ami_2020", "hurtlex"} <= keys
    assert main(["data", "fetch", "xcopaa"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("lm-eval-ita: ")
    assert "xcopa" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["list", "--nonsense"], ["demo", "--limit", "0"], ["demo", "--limit", "x"]]
)
def test_bad_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The plain lm_eval command with its dummy model, and the built-in tasks out of the way for speed."""
    program = (
        "import lm_eval.tasks.manager as m, functools\n"
        "m.TaskManager.__init__ = functools.partialmethod(m.TaskManager.__init__, include_defaults=False)\n"
        "from lm_eval.__main__ import cli_evaluate; cli_evaluate()"
    )
    from lm_eval_ita.harness.task_files import tasks_path

    command = [
        sys.executable,
        "-c",
        program,
        "run",
        "--model",
        "dummy",
        "--include_path",
        str(tasks_path()),
        *arguments,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("fiori:\n  words: [rosa]\n", "unequal size"),
        ("fiori:\n  words: [rosa, rosa]\n", "'rosa' twice"),
        (None, "cannot be read"),
    ],
)
def test_the_plain_harness_command_shows_one_line_and_ends_with_2(tmp_path: Path, text: str | None, named: str) -> None:
    lists = tmp_path / "my.yaml"
    if text is not None:
        lists.write_text(text, encoding="utf-8")
    done = harness("--tasks", "itapat_base_1", "--metadata", json.dumps({"itapat_lists": str(lists)}))
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("lm-eval-ita:")]
    assert named in line
    assert "my.yaml" in line


@pytest.mark.slow
def test_the_plain_harness_command_runs_us() -> None:
    done = harness("--tasks", "itapat_base_9", "--limit", "4")
    assert done.returncode == 0, done.stderr
    assert "bias_score" in done.stdout
    assert "Custom kwargs" not in done.stderr
