from pathlib import Path

import pytest
from lm_eval.tasks._yaml_loader import load_yaml

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import read_task_files, tasks_path

FILES = read_task_files()
TASKS = [file for file in FILES if file.card is not None]


def test_names_are_prefixed_and_unique() -> None:
    names = [file.name for file in FILES]
    assert len(set(names)) == len(names)
    assert all(name.startswith(("itaeval", "itapat")) for name in names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_we_read_a_file_as_the_harness_does(file: object) -> None:
    theirs = load_yaml(file.path, resolve_func=False)  # type: ignore[attr-defined]
    ours = dict(file.config)  # type: ignore[attr-defined]
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        if "lm_eval_ita.harness" in str(value):
            continue  # lm_eval prefixes the folder to a function's name
        assert ours[key] == value, key


def test_groups_hold_what_exists() -> None:
    names = {file.name for file in FILES}
    for file in FILES:
        assert set(file.members) <= names
    members = {member for file in FILES for member in file.members}
    assert {file.name for file in TASKS} <= members


def test_functions_are_absolute_references_that_exist() -> None:
    import importlib
    import re

    for path in tasks_path().rglob("*yaml"):
        for reference in re.findall(r"!function (\S+)", path.read_text(encoding="utf-8")):
            module, _, name = reference.rpartition(".")
            assert module.startswith("lm_eval_ita.harness.")
            assert callable(getattr(importlib.import_module(module), name))


def write(tmp_path: Path, text: str) -> Path:
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    return tmp_path


CARD = """task: itapat_x
metadata: {version: 1.0, suite: itapat, category: base, dataset: itapat, origin: template, primary_metric: bias_score,
  chance: null, range: [-1, 1], paper: p, deviations: []}
"""


def test_a_good_card(tmp_path: Path) -> None:
    (file,) = read_task_files(write(tmp_path, CARD))
    assert file.card is not None
    assert file.card.range == (-1, 1)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("origin: template", "origin: invented", "metadata.origin"),
        ("version: 1.0, ", "", "metadata.version"),
        ("chance: null", "chance: 2", "metadata.chance"),
        ("range: [-1, 1]", "range: [1]", "metadata.range"),
        ("paper: p", "paper: ''", "metadata.paper"),
        ("task: itapat_x", "tasks: itapat_x", "neither a task nor a group"),
        ("metadata:", "meta:", "metadata"),
        ("task: itapat_x", "task: [itapat_x", "cannot be read"),
    ],
)
def test_a_bad_card_is_named(tmp_path: Path, old: str, new: str, named: str) -> None:
    with pytest.raises(UserError, match=r"task\.yaml") as caught:
        read_task_files(write(tmp_path, CARD.replace(old, new)))
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
