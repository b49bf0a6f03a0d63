"""Our rendering is the harness's: text, target and choices of every row of every task of ours, and of the sound ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lm_eval.tasks import TaskManager

from lm_eval_ita.authoring.rendering import Renderer
from lm_eval_ita.authoring.rules import functions
from lm_eval_ita.authoring.source import SourceReader
from lm_eval_ita.harness.task_files import read_task_files, tasks_path

SOUND = Path(__file__).parents[1] / "data" / "sound_tasks"


def tasks() -> Iterator[tuple[Path, Any]]:
    manager = TaskManager(
        include_path=[str(tasks_path()), str(SOUND)], include_defaults=False, metadata={"data_dir": "sample"}
    )
    for file in read_task_files():
        if file.card is not None and file.card.suite != "itapat":
            yield file.path, manager.load([file.name])["tasks"][file.name]
    for path in sorted(SOUND.glob("[!g]*.yaml")):
        name = f"sound_{path.stem}"
        yield path, manager.load([name])["tasks"][name]


def test_a_row_becomes_what_the_harness_makes_of_it() -> None:
    reader, compared = SourceReader(), 0
    for path, task in tasks():
        source, found = reader.read(path)
        assert source is not None, found
        called, missing = functions.resolve(source)
        assert not missing
        for example, rows in ((False, task.eval_docs), (True, task.fewshot_docs() or [])):
            renderer = Renderer(source, called, list(task.eval_docs.features), example=example)
            config = task.fewshot_cfg if example else task.config
            for row in rows:
                row = dict(row)
                assert renderer.text(row) == task.doc_to_text(row, config.doc_to_text), path
                assert renderer.target(row) == task.doc_to_target(row, config.doc_to_target), path
                if task.config.doc_to_choice is not None:
                    assert renderer.choices(row) == task.doc_to_choice(row, config.doc_to_choice), path
                compared += 1
    assert compared > 500


@pytest.mark.parametrize("text", ["[1, 2]", "[a", "['x']", "12", " 12", "١٢", "", "[]", "["])
def test_targets_that_look_like_python(text: str, tmp_path: Path) -> None:
    """Digits are the number of a choice, and a text in brackets a list where Python can read it."""
    from datasets import Dataset, DatasetDict
    from lm_eval.api.task import ConfigurableTask

    fields = {"doc_to_text": "{{text}}", "doc_to_target": "{{target}}", "doc_to_choice": ["a", "b"] * 10}
    rows = [{"text": text, "target": text}]
    harness = ConfigurableTask(
        config={
            **fields,
            "task": "t",
            "test_split": "test",
            "output_type": "generate_until",
            "generation_kwargs": {"until": ["."]},
            "custom_dataset": lambda **_: DatasetDict({"test": Dataset.from_list([{"text": "a", "target": "0"}])}),
            "metadata": {},
        }
    )
    path = tmp_path / "t.yaml"
    path.write_text('task: t\ndoc_to_text: "{{text}}"\ndoc_to_target: "{{target}}"\ndoc_to_choice: [a, b]\n')
    source, _ = SourceReader().read(path)
    assert source is not None
    renderer = Renderer(source, {}, ["text", "target"])

    def outcome(function: Any) -> Any:
        try:
            return function(rows[0])
        except (ValueError, SyntaxError) as error:
            return type(error)

    assert outcome(renderer.target) == outcome(harness.doc_to_target)
    assert outcome(renderer.text) == outcome(harness.doc_to_text)
