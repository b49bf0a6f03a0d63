"""The wheel, beside the real harness, as a user installs it."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from lm_eval_ita.harness.task_files import read_task_files

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


def run(command: Sequence[str | Path], **options: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT])
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and its own copy of lm_eval; the other dependencies come from this one."""
    folder = tmp_path_factory.mktemp("env") / "venv"
    venv.create(folder, with_pip=False)
    (purelib,) = folder.glob("lib/python*/site-packages")
    here = Path(sysconfig.get_path("purelib"))
    # lm_eval is copied, not linked: our files must land beside its own, and only there.
    import shutil

    for name in ("lm_eval", *(path.name for path in here.glob("lm_eval-*.dist-info"))):
        shutil.copytree(here / name, purelib / name, ignore=shutil.ignore_patterns("ita", "__pycache__"))
    (purelib / "rest.pth").write_text(f"{here}\n", encoding="utf-8")
    run([sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--no-deps", "--quiet", wheel])
    return folder


def outside(site: Path, *command: str) -> str:
    """Run a command of that environment away from the source tree."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return run([site / "bin" / "python", "-P", *command], cwd=site, env=environment)


def files(site: Path) -> set[str]:
    (purelib,) = site.glob("lib/python*/site-packages")
    return {
        str(path.relative_to(purelib))
        for path in purelib.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_holds_the_package_and_the_tasks_only(wheel: Path) -> None:
    import zipfile

    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "lm_eval_ita",
        "lm_eval",
        next(n for n in names if "dist-info" in n).split("/")[0],
    }
    ours = [name for name in names if name.startswith("lm_eval/")]
    assert all(name.startswith("lm_eval/tasks/ita/") for name in ours)
    assert len(ours) == sum(1 for path in (ROOT / "tasks").rglob("*") if path.is_file())
    assert not [name for name in names if name.endswith((".py", ".pyc")) and name.startswith("lm_eval/")]
    files = (path for path in (ROOT / "lm_eval_ita").rglob("*") if path.is_file() and path.suffix != ".pyc")
    missing = {path.relative_to(ROOT).as_posix() for path in files} - set(names)
    assert not missing, "word lists, templates and the like travel with the code"


def test_the_harness_finds_our_tasks_and_no_name_is_taken(site: Path) -> None:
    listing = outside(site, "-m", "lm_eval", "ls", "tasks")
    rows = re.findall(r"^\|\s*([\w\-+.:]+)\s*\|\s*(\S+)", listing, re.MULTILINE)
    found = {name for name, path in rows if "lm_eval/tasks/ita/" in path}
    ours = {file.name for file in read_task_files()}
    assert found == ours
    builtin = [name for name, path in rows if "lm_eval/tasks/ita/" not in path]
    assert len(builtin) > 5000
    assert not ours & set(builtin)


def test_installed_commands(site: Path) -> None:
    path = outside(site, "-m", "lm_eval_ita.cli.main", "tasks-path").strip()
    assert path.endswith("lm_eval/tasks/ita")
    assert Path(path, "itapat").is_dir()
    assert "itapat_gender_7" in outside(site, "-m", "lm_eval_ita.cli.main", "list")
    assert (site / "bin" / "lm-eval-ita").is_file()


def test_uninstalling_leaves_nothing_of_ours(site: Path) -> None:
    """Runs last: it takes the installation away."""
    before = files(site)
    assert any("lm_eval/tasks/ita" in name for name in before)
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            site / "bin" / "python",
            "uninstall",
            "--yes",
            "--quiet",
            "lm-eval-ita",
        ]
    )
    after = files(site)
    assert not [name for name in after if "lm_eval_ita" in name or "/ita/" in name]
    assert "lm_eval/tasks/__init__.py" in after
    assert not (site / "bin" / "lm-eval-ita").exists()
