"""The test file of a new task."""

from __future__ import annotations

__all__ = ["test_text"]

_TEXT = '''"""The task {name}: without a finding, and asked as it was when it was made."""

from pathlib import Path

import pytest
from lm_eval.tasks import TaskManager

from lm_eval_ita.authoring import validate
from lm_eval_ita.errors import MissingDataError

HERE = Path(__file__).parent


def test_no_finding() -> None:
    assert [str(finding) for finding in validate([HERE / "{name}.yaml"]).findings] == []


def test_the_harness_builds_it() -> None:
    manager = TaskManager(include_path=str(HERE), include_defaults=False{metadata})
    try:
        task = manager.load(["{name}"])["tasks"]["{name}"]
    except MissingDataError as error:
        pytest.skip(str(error))
    document = task.eval_docs[0]
    assert task.doc_to_text(document){text}
    assert task.doc_to_target(document){target}{choices}
'''


def test_text(name: str, *, sample: bool, first: tuple[str, object, object] | None) -> str:
    """A test of a task.

    Args:
        name: The task.
        sample: Whether sample rows lie beside it.
        first: Prompt, target and choices (None for none) of the first row, where the test may hold them.
    """
    metadata = ', metadata={"data_dir": "sample"}' if sample else ""
    if first is None:
        return _TEXT.format(name=name, metadata=metadata, text=".strip()", target=" is not None", choices="")
    prompt, target, choices = first
    asked = f"\n    assert task.doc_to_choice(document) == {choices!r}" if choices is not None else ""
    return _TEXT.format(name=name, metadata=metadata, text=f" == {prompt!r}", target=f" == {target!r}", choices=asked)
