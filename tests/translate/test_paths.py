"""Paths to texts, and rows from files."""

import contextlib
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.errors import UserError
from lm_eval_ita.translate.paths import parse_path, put, shown, text_paths, texts_at
from lm_eval_ita.translate.source import check_fields, read_source
from tests.catalogue.test_hub import SHA, cached

ROW = {
    "id": "a",
    "question": "Why?",
    "choices": {"text": ["One.", "Two."], "label": ["A", "B"]},
    "paragraphs": [{"qas": [{"q": "Who?"}, {"q": "When?"}]}, {"qas": []}],
    "note": None,
    "n": 3,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("question", ["Why?"]),
        ("choices.text[]", ["One.", "Two."]),
        ("paragraphs[].qas[].q", ["Who?", "When?"]),
        ("note", []),
    ],
)
def test_texts_at(path: str, expected: list[str]) -> None:
    assert [text for _, text in texts_at(ROW, parse_path(path))] == expected


def test_addresses() -> None:
    found = texts_at(ROW, parse_path("paragraphs[].qas[].q"))
    assert [shown(address) for address, _ in found] == ["paragraphs[0].qas[0].q", "paragraphs[0].qas[1].q"]
    row = json.loads(json.dumps(ROW))
    put(row, found[1][0], "Quando?")
    assert row["paragraphs"][0]["qas"][1]["q"] == "Quando?"
    assert row["paragraphs"][0]["qas"][0]["q"] == "Who?"


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a[", "a[0]", "[]", "a..b", "a[]b"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(UserError, match="is no path"):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("question[]", "not a list: leave out its"),
        ("choices.text", "a list needs"),
        ("n", "holds a number, not text"),
        ("choices.texts[]", "choices has no 'texts', only text, label"),
        ("paragraphs.qas", "write \\[\\] after it"),
        ("Question", "there is no 'Question'"),
    ],
)
def test_paths_that_do_not_fit(path: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        texts_at(ROW, parse_path(path))


NAMES = st.text(min_size=1, max_size=5)
LEAVES = st.text(max_size=5) | st.none() | st.integers()
INNER = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(NAMES, LEAVES, max_size=3)
TREES = INNER | st.lists(INNER, max_size=3) | st.dictionaries(NAMES, INNER, max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(NAMES, TREES, max_size=4))
def test_every_path_that_is_proposed_leads_to_texts(row: dict) -> None:
    for path in text_paths(row):
        with contextlib.suppress(UserError):  # another element of a list may be of another kind
            assert texts_at(row, parse_path(path))
        if "[]" not in path:
            assert texts_at(row, parse_path(path))


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_same_rows_from_every_format(tmp_path: Path) -> None:
    rows = [{"id": "1", "text": 'A "b", c\u2028d'}, {"id": "2", "text": "Due\nrighe"}]
    jsonl = write(tmp_path / "a.jsonl", rows)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    quoted = ('"' + row["text"].replace('"', '""') + '"' for row in rows)
    (tmp_path / "a.csv").write_text(
        "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(quoted, 1)), encoding="utf-8"
    )
    for path in (jsonl, tmp_path / "a.parquet", tmp_path / "a.csv"):
        assert list(read_source(str(path)).rows) == rows


def test_a_field_that_is_missing_is_named_with_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"q": "a"}, {"q": "b"}, {"question": "c"}])
    with pytest.raises(
        UserError, match=r"a\.jsonl:3: --fields q: there is no 'q', only question; paths with text: quest"
    ):
        check_fields(read_source(str(path)), [parse_path("q")])
    path = write(tmp_path / "b.jsonl", [{"q": None}])
    with pytest.raises(UserError, match="no row has a text there"):
        check_fields(read_source(str(path)), [parse_path("q")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"q": "perch\xe9"}\n', r"x\.jsonl:1: not UTF-8: byte 0xe9"),
        (b'{"q": "a"}\n{"q": "b', r"x\.jsonl:2: not valid JSON.*cut short"),
        (b"\n", "has no rows"),
        (b'{"q": "\\ud800"}\n', "q holds what JSON cannot"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_source(str(tmp_path / "x.jsonl"))


def test_what_is_no_data(tmp_path: Path, no_network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for data, message in (
        ("nothing.jsonl", "neither a file"),
        ("owner/name", "switched off"),
        (str(tmp_path), "folder"),
    ):
        with pytest.raises(UserError, match=message):
            read_source(data)
    with pytest.raises(UserError, match="for data sets of the Hub"):
        read_source(str(write(tmp_path / "a.jsonl", [ROW])), split="test")


def test_a_data_set_of_the_hub(tmp_path: Path, no_network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = cached(tmp_path / "hub", "org/small", "main")
    write(folder / "train.jsonl", [{"q": "a"}])
    write(folder / "test.jsonl", [{"q": "b"}, {"q": "c"}])
    source = read_source("org/small", split="test")
    assert list(source.rows) == [{"q": "b"}, {"q": "c"}]
    assert source.name == f"hf://datasets/org/small@{SHA}/test"
    with pytest.raises(UserError, match="give --split, a split, one of train, test"):
        read_source("org/small")
    with pytest.raises(UserError, match="no split 'dev'"):
        read_source("org/small", split="dev")
