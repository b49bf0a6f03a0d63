"""Tasks without a mistake give no finding: ours, and those of `tests/data/sound_tasks`."""

import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_ita.authoring import validate
from lm_eval_ita.authoring.rules import RULES
from lm_eval_ita.harness.task_files import read_task_files

SOUND = Path(__file__).parents[1] / "data" / "sound_tasks"
DOCS = Path(__file__).parents[2] / "docs" / "adding_tasks.md"


def test_all_our_tasks_are_sound() -> None:
    checked = validate()
    assert "\n".join(map(str, checked.findings)) == ""
    assert checked.files == len(read_task_files()) > 100


def test_all_our_tasks_are_sound_on_real_data(real_data: Path) -> None:
    """Also where rows are not as tidy as samples: the data sets that are whole there."""
    whole = ("itacola", "belebele", "ironita_irony", "sentipolc", "hatecheck", "honest", "xcopa", "squad_it")
    checked = validate([f"itaeval_{name}" for name in whole], data_dir=str(real_data))
    assert "\n".join(map(str, checked.findings)) == ""


def test_real_data_that_hold_a_choice_twice_are_told_so(real_data: Path) -> None:
    """A machine translation of ARC, where two options became one."""
    (found,) = validate(["itaeval_arc_challenge"], data_dir=str(real_data)).findings
    assert found.rule == "duplicate-choice"
    assert "'La velocità era costante.' stands twice in row 206" in found.what


@pytest.mark.parametrize("path", sorted(SOUND.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_sound_task_has_no_finding(path: Path) -> None:
    together = [path] if not path.stem.startswith("group") else [SOUND]
    assert "\n".join(map(str, validate(together).findings)) == ""


def test_it_takes_seconds() -> None:
    """Under ten on a quiet machine. Processor time, since the machine of a test is not quiet, and twice as much of it."""
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'lm_eval_ita', 'validate'])\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n"
        "sys.exit(done.returncode)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 20


def test_the_documentation_explains_every_rule() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for rule in RULES.values():
        assert f"`{rule.name}`" in text, rule.name
        assert rule.about in text, rule.name
