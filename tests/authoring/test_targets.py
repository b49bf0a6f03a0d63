"""Which files `validate` looks at."""

from pathlib import Path

import pytest

from lm_eval_ita.authoring.targets import task_files
from lm_eval_ita.errors import UserError


def test_what_is_installed_in_a_folder_is_left_alone(tmp_path: Path) -> None:
    wanted = [tmp_path / "a.yaml", tmp_path / "tasks" / "deep" / "b.yaml"]
    others = [tmp_path / place / "x.yaml" for place in (".hidden", "env/lib", "node_modules/p", "lib/site-packages/p")]
    others += [tmp_path / "lists" / "c.yaml", tmp_path / "catalogue.yaml", tmp_path / "notes.txt"]
    for file in (*wanted, *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("task: x\n", encoding="utf-8")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert task_files([tmp_path]) == wanted
    assert task_files([tmp_path / "tasks", tmp_path]) == [wanted[1], wanted[0]]
    # Named itself, any folder is searched.
    assert task_files([tmp_path / ".hidden"]) == [tmp_path / ".hidden" / "x.yaml"]
    with pytest.raises(UserError, match="holds no task file"):
        task_files([tmp_path / "lists"])
