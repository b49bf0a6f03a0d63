import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.fingerprint import model_files
from lm_eval_ita.run.selection import select, task_manager
from lm_eval_ita.run.settings import Settings, folder_name, identity

TASKS = {"itaeval_xcopa": "1.0 abc"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "modello"
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"\0" * 100)
    return folder


def name(settings: Settings, tasks: dict[str, str] | None = None) -> str:
    return folder_name(settings, identity(settings, tasks or TASKS))


def test_what_moves_the_figures_moves_the_name(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = Settings(tasks=("itaeval_xcopa",), model_args={"pretrained": str(model)})
    assert name(base) == name(replace(base))
    assert name(base).startswith("modello-")
    changes: list[dict[str, Any]] = [
        {"model": "vllm"},
        {"model_args": {"pretrained": str(model), "dtype": "float16"}},
        {"model_args": {"pretrained": str(model), "revision": "v2"}},
        {"num_fewshot": 1},
        {"limit": 10},
        {"apply_chat_template": True},
        {"fewshot_as_multiturn": True},
        {"system_instruction": "Rispondi."},
        {"gen_kwargs": {"temperature": 0.5}},
        {"seeds": (0, 1234, 1234, 5)},
        {"metadata": {"data_dir": "sample"}},
        {"log_samples": False},
    ]
    names = {name(replace(base, **change)) for change in changes}
    names |= {name(base), name(base, {"itaeval_xcopa": "1.1 abc"}), name(base, {**TASKS, "itaeval_arc_challenge": "1"})}
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")
    names.add(name(base))
    assert len(names) == len(changes) + 4


def test_how_it_is_run_does_not(model: Path) -> None:
    base = Settings(tasks=("itaeval_xcopa",), model_args={"pretrained": str(model)})
    for change in ({"batch_size": "8"}, {"max_batch_size": 3}, {"device": "cpu"}):
        assert name(replace(base, **change)) == name(base)
    other = replace(base, model_args={"pretrained": str(model), "batch_size": 4})
    assert name(other) == name(base)


def test_a_model_that_changed_in_its_place_is_another(model: Path) -> None:
    before = model_files({"pretrained": str(model)})
    (model / "config.json").write_text('{"rope_theta": 2}', encoding="utf-8")
    edited = model_files({"pretrained": str(model)})
    (model / "model.safetensors").write_bytes(b"\1" + b"\0" * 99)
    trained = model_files({"pretrained": str(model)})
    assert len({json.dumps(found) for found in (before, edited, trained)}) == 3
    # Checkpoints and hidden files that appear beside it are not part of it.
    (model / "checkpoint-10").mkdir()
    (model / "checkpoint-10" / "config.json").write_text("{}", encoding="utf-8")
    (model / ".cache").write_text("", encoding="utf-8")
    assert model_files({"pretrained": str(model)}) == trained
    assert model_files({"pretrained": str(model), "subfolder": "checkpoint-10"}) != trained


def test_large_weights_are_told_apart_without_reading_them(model: Path) -> None:
    weights = model / "model.safetensors"
    with weights.open("wb") as file:
        file.truncate(40 * 2**20)  # sparse
    before = model_files({"pretrained": str(model)})
    state = weights.stat()
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert model_files({"pretrained": str(model)}) != before


def test_adapters_and_tokenizers_count(model: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}", encoding="utf-8")
    found = model_files({"pretrained": str(model), "peft": str(adapter), "dtype": str(tmp_path)})
    assert found.keys() == {"pretrained", "peft"}


def test_a_hub_model_is_known_by_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    references = tmp_path / "models--org--name" / "refs"
    references.mkdir(parents=True)
    (references / "main").write_text("a" * 40, encoding="utf-8")
    assert model_files({"pretrained": "org/name"}) == {"pretrained": f"commit {'a' * 40}"}
    assert model_files({"pretrained": "org/name", "revision": "b" * 40}) == {"pretrained": f"commit {'b' * 40}"}
    assert model_files({"pretrained": "org/other"}) == {}


def chosen(*names: str, **options: Any) -> Any:
    settings = Settings(tasks=names, **options)
    return select(settings, task_manager(settings))


def test_groups_patterns_and_repeats() -> None:
    found = chosen("itaeval", "itaeval_xcopa", "itapat_gender_*")
    assert len(found.tasks) == 18 + 3
    assert list(found.groups) == ["itaeval_nlu", "itaeval_cfk", "itaeval_bfs", "itaeval"]
    assert found.groups["itaeval"]["task"] == ["itaeval_nlu", "itaeval_cfk", "itaeval_bfs"]
    assert found.groups["itaeval_cfk"]["aggregate_metric_list"]
    assert list(chosen("itaeval_xcopa").tasks) == ["itaeval_xcopa"]


def test_versions_follow_the_task_file_not_its_place(tmp_path: Path) -> None:
    text = "task: mio\ncustom_dataset: !function dati.carica\nmetadata: {version: 2}\n"
    versions = []
    for place, content in (("a", text), ("b", text), ("c", text.replace("2", "3"))):
        (tmp_path / place).mkdir()
        (tmp_path / place / "mio.yaml").write_text(content, encoding="utf-8")
        versions.append(chosen("mio", include_path=str(tmp_path / place)).tasks["mio"])
    assert versions[0].startswith("2 ")
    assert versions[0] == versions[1] != versions[2]


def test_unknown_names_are_answered_with_near_ones() -> None:
    with pytest.raises(UserError, match="no task 'itaeval_belebel'; did you mean itaeval_belebele"):
        chosen("itaeval_belebel")


def test_a_group_that_changes_its_tasks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gruppo.yaml").write_text(
        "group: mio\ntask:\n  - task: itaeval_xcopa\n    num_fewshot: 3\n", encoding="utf-8"
    )
    with pytest.raises(UserError, match="group 'mio' changes its tasks"):
        chosen("mio", include_path=str(tmp_path))
