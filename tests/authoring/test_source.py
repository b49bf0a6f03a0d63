"""Task files with lines: what the harness reads, and each key where it stands."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.authoring.source import KeyPath, Source, SourceReader
from lm_eval_ita.harness.task_files import read_task_files

FILES = read_task_files()
KEYS = st.text(alphabet="abcdefgh_é", min_size=1, max_size=6)
SCALARS = st.one_of(st.integers(), st.booleans(), st.none(), st.text(alphabet="abc 'è\n:#{-", max_size=12))
TREES = st.recursive(
    SCALARS, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=3), max_leaves=12
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_of_ours_is_read_as_everywhere_else(file: Any) -> None:
    source, found = SourceReader().read(file.path)
    assert found == []
    assert source is not None
    assert (source.name, source.kind) == (file.name, file.kind)
    assert dict(source.config) == dict(file.config)
    for where in source.functions:
        assert source.value(where).startswith("lm_eval_ita.harness.")


def read(path: Path, text: str) -> Source:
    path.write_text(text, encoding="utf-8")
    source, found = SourceReader().read(path)
    assert source is not None, found
    return source


def paths(value: Any, above: KeyPath = ()) -> dict[KeyPath, Any]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: dict[KeyPath, Any] = {}
    for key, item in inside:
        found[(*above, key)] = item
        found.update(paths(item, (*above, key)))
    return found


@settings(max_examples=60, deadline=None)
@given(content=st.dictionaries(KEYS, TREES, max_size=5), flow=st.booleans())
def test_every_key_is_found_in_its_line(content: dict[str, Any], flow: bool, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("source") / "task.yaml"
    text = "task: x\n" + yaml.safe_dump(content, allow_unicode=True, default_flow_style=flow, width=60)
    if not content:
        text = "task: x\n"
    elif flow:
        text = "task: x\nrest: " + text.removeprefix("task: x\n").replace("\n", "\n ")
        content = {"rest": content}
    source = read(path, text)
    assert {key: value for key, value in source.config.items() if key != "task"} == content
    lines = text.split("\n")
    assert set(source.places) - {("task",)} == set(paths(content))
    for where in paths(content):
        place = source.place(where)
        assert place.file == path
        if isinstance(where[-1], str) and "\\" not in lines[place.line - 1]:
            assert where[-1] in lines[place.line - 1]


def test_a_key_that_is_not_there_stands_where_the_one_above_it_does(tmp_path: Path) -> None:
    source = read(tmp_path / "task.yaml", "# a comment\ntask: x\ngeneration_kwargs:\n  until: []\n")
    assert source.place(("generation_kwargs", "max_gen_toks")).line == 3
    assert source.place(("metadata", "version")).line == 2
    assert source.place(("generation_kwargs", "until")).line == 4


def test_a_key_stands_in_the_file_that_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "_base").write_text("metric_list:\n  - metric: acc\nnum_fewshot: 1\n", encoding="utf-8")
    (tmp_path / "below").mkdir()
    source = read(tmp_path / "below" / "task.yaml", "include: ../_base\ntask: x\nnum_fewshot: 2\n")
    assert source.place(("metric_list", 0, "metric")).file == tmp_path / "_base"
    assert source.place(("num_fewshot",)) == source.place(("num_fewshot", "nothing"))
    assert source.place(("num_fewshot",)).file == tmp_path / "below" / "task.yaml"


def test_a_list_in_the_upper_file_hides_the_lines_of_the_lower_one(tmp_path: Path) -> None:
    (tmp_path / "_base").write_text("metric_list:\n  - metric: acc\n  - metric: f1\n", encoding="utf-8")
    source = read(tmp_path / "task.yaml", "include: _base\ntask: x\nmetric_list:\n  - metric: mcc\n")
    assert ("metric_list", 1) not in source.places
    assert source.place(("metric_list", 1, "metric")).line == 3


def test_a_function_is_looked_for_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "lower").mkdir()
    (tmp_path / "lower" / "_base").write_text("process_docs: !function own.clean\n", encoding="utf-8")
    source = read(tmp_path / "task.yaml", "include: lower/_base\ntask: x\n")
    assert source.functions["process_docs",].folder == tmp_path / "lower"


def test_merge_keys_and_anchors_are_no_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("task: x\nmetadata: &card\n  version: 1\nother:\n  <<: *card\n  version: 2\n", encoding="utf-8")
    source, found = SourceReader().read(path)
    assert found == []
    assert source is not None
    assert source.config["other"] == {"version": 2}


def test_an_anchor_inside_itself_ends(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("task: x\nmetadata: &card\n  inner: *card\n", encoding="utf-8")
    source, _ = SourceReader().read(path)
    assert source is not None
